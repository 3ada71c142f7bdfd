/** What every answer tells a browser: run nothing that does not come from here, show it in no frame, keep it to yourself. */

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const ALWAYS: Readonly<Record<string, string>> = {
  // What may be kept says so itself: the files of the dashboard.
  "cache-control": "no-store",
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
};

const HTTPS_ONLY: Readonly<Record<string, string>> = { "strict-transport-security": "max-age=31536000" };

export function securityHeaders(isHttps: boolean): Readonly<Record<string, string>> {
  return isHttps ? { ...ALWAYS, ...HTTPS_ONLY } : ALWAYS;
}

/**
 * Whether the client came by https. A proxy says so, and it need not be a trusted one: who lies about it gets
 * a stricter answer, and nobody else does.
 */
export function cameByHttps(
  protocol: string,
  forwardedProto: string | readonly string[] | undefined,
): boolean {
  const forwarded = typeof forwardedProto === "string" ? forwardedProto : (forwardedProto?.[0] ?? "");
  return protocol === "https" || forwarded.split(",")[0]?.trim().toLowerCase() === "https";
}
