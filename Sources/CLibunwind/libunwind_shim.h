// libunwind for a copied x86-64 thread: every `unw_` function is a macro, which Swift cannot import.
#ifndef CLIBUNWIND_H
#define CLIBUNWIND_H

#include <libunwind-x86_64.h>
#include <string.h>

// Exported with the prefix of its architecture, declared in no installed header.
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int, void *);

// Rules are not cached: a cached rule is found by address alone, and would then also be taken for the function that
// begins where a call that never returns ended.
static inline unw_addr_space_t clibunwind_create(unw_accessors_t *accessors) {
  unw_addr_space_t space = unw_create_addr_space(accessors, 0);
  if (space) unw_set_caching_policy(space, UNW_CACHE_NONE);
  return space;
}

static inline void clibunwind_destroy(unw_addr_space_t space) { unw_destroy_addr_space(space); }

static inline int clibunwind_begin(unw_cursor_t *cursor, unw_addr_space_t space, void *argument) {
  return unw_init_remote(cursor, space, argument);
}

static inline int clibunwind_step(unw_cursor_t *cursor) { return unw_step(cursor); }

static inline int clibunwind_register(unw_cursor_t *cursor, int number, unw_word_t *value) {
  return unw_get_reg(cursor, number, value);
}

// Whether the rules say that the caller's frame pointer cannot be had. libunwind also calls that the outermost frame.
static inline int clibunwind_lost_frame_pointer(unw_cursor_t *cursor) {
  unw_save_loc_t place;
  return unw_get_save_loc(cursor, UNW_X86_64_RBP, &place) == 0 && place.type == UNW_SLT_NONE;
}

// Looks a rule up in a sorted table of `count` pairs of 32-bit distances from `base`, in the copied process.
static inline int clibunwind_search(unw_addr_space_t space, unw_word_t pc, unw_word_t base, unw_word_t table,
                                    unw_word_t count, unw_proc_info_t *found, int need_rules, void *argument) {
  unw_dyn_info_t info;
  memset(&info, 0, sizeof info);
  info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  info.end_ip = ~(unw_word_t)0;
  info.u.rti.segbase = base;
  info.u.rti.table_data = table;
  info.u.rti.table_len = count * 8 / sizeof(unw_word_t);
  return UNW_OBJ(dwarf_search_unwind_table)(space, pc, &info, found, need_rules, argument);
}

#endif
