/** Random numbers that a seed repeats (mulberry32). */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** Whole, both ends included. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Deals all of them in an order of chance, and then again: none is left out for long. */
  deal<Item>(items: readonly Item[]): Deal<Item>;
  /** Another series that depends on this one's seed and on nothing else that happens. */
  fork(name: string): Random;
}

interface Deal<Item> {
  /** The same until it was played. */
  next(): Item;
  played(): void;
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[between(0, items.length - 1)];
    if (item === undefined) throw new RangeError("Nothing to pick from");
    return item;
  };
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick,
    deal: (items) => {
      let left = [...items];
      let dealt: { readonly item: (typeof items)[number] } | null = null;
      return {
        next: () => {
          dealt ??= { item: pick(left) };
          return dealt.item;
        },
        played: () => {
          left = dealt === null ? left : left.toSpliced(left.indexOf(dealt.item), 1);
          if (left.length === 0) left = [...items];
          dealt = null;
        },
      };
    },
    fork: (name) => {
      let sum = seed;
      for (let at = 0; at < name.length; at += 1) sum = Math.imul(sum, 31) + name.charCodeAt(at);
      return randomFrom(sum);
    },
  };
}
