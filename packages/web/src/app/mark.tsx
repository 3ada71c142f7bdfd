/** A signal with two lights. */
export function Mark() {
  return (
    <svg aria-hidden="true" width="18" height="26" viewBox="0 0 18 26">
      <rect x="2" width="14" height="26" rx="7" fill="var(--ink)" />
      <circle cx="9" cy="7.2" r="3.6" fill="#ff4d47" />
      <circle cx="9" cy="18.8" r="3.6" fill="#5fd38a" />
    </svg>
  );
}
