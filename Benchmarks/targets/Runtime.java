// Threads of a Java program that wait, each in its own way, or compute in functions that call themselves: `wait`, `spin`.
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;

public class Runtime {
  static long visit(Map<String, Integer> words, int depth) {
    if (depth == 0) {
      long sum = 0;
      for (int value : words.values()) sum = sum * 31 + value;
      return sum;
    }
    return visit(words, depth - 1) + depth;
  }

  static void compute() {
    Map<String, Integer> words = new HashMap<>();
    for (int number = 0; number < 1000; number++) words.put("word " + number, number);
    long total = 0;
    while (true) {
      for (int depth = 0; depth < 20; depth++) total += visit(words, depth);
      if (total == 1) System.out.println(total);
    }
  }

  public static void main(String[] arguments) throws Exception {
    System.out.println("ready");
    if (arguments.length > 0 && arguments[0].equals("spin")) compute();
    new Thread(() -> {
      try {
        new LinkedBlockingQueue<String>().take();
      } catch (InterruptedException ended) {
        return;
      }
    }).start();
    Thread.sleep(1_000_000_000L);
  }
}
