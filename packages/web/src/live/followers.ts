export interface Followers {
  readonly follow: (topic: string) => () => void;
  readonly topics: () => readonly string[];
}

/** Counts who wants which topic; tells when that changes. */
export function createFollowers(onChange: () => void): Followers {
  const counts = new Map<string, number>();
  return {
    follow: (topic) => {
      counts.set(topic, (counts.get(topic) ?? 0) + 1);
      onChange();
      return () => {
        const rest = (counts.get(topic) ?? 1) - 1;
        if (rest === 0) counts.delete(topic);
        else counts.set(topic, rest);
        onChange();
      };
    },
    topics: () => [...counts.keys()].toSorted(),
  };
}
