/** Every value of a label is a series that is kept for ever: after so many, the rest share one. */

export const REST = "other";

export function createBoundedLabel(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return REST;
    known.add(value);
    return value;
  };
}
