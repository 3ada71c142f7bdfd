/** A name may be long and without a space: two lines of it, and the pointer tells the rest. The text is safe already. */
export function Clamped({ text }: { readonly text: string }) {
  return (
    <span className="line-clamp-2 w-fit wrap-anywhere" title={text}>
      {text}
    </span>
  );
}
