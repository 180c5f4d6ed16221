// A function whose rules stand only in `.debug_frame`, as those of a Go program do; it also clears rbp.
.cfi_sections .debug_frame
.text
.globl call_with_debug_rules
call_with_debug_rules:
.cfi_startproc
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  sub $48, %rsp
  .cfi_adjust_cfa_offset 48
  xor %ebp, %ebp
  call *%rdi
  add $48, %rsp
  .cfi_adjust_cfa_offset -48
  pop %rbp
  .cfi_adjust_cfa_offset -8
  ret
.cfi_endproc
.section .note.GNU-stack, "", @progbits
