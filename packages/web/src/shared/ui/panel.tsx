import { type ReactNode, useId } from "react";

interface PanelProps {
  readonly title: ReactNode;
  readonly children: ReactNode;
  /** What stands at the other end of the head line. */
  readonly aside?: ReactNode;
  readonly className?: string;
  /** For a key that moves the focus here. */
  readonly block?: number;
}

export function Panel({ title, children, aside, className = "", block }: PanelProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={`panel min-w-0 ${className}`}
      {...(block === undefined ? {} : { tabIndex: -1, "data-block": block })}
    >
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 px-4 pt-3 pb-2">
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div className="text-sm text-muted">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

export function Empty({ children }: { readonly children: ReactNode }) {
  return <p className="px-4 pt-1 pb-4 text-muted">{children}</p>;
}
