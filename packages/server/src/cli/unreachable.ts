/** Why a server does not answer, in a sentence that says what to do. Pure. */

import type { UnreachableError } from "@signalbox/contract";

type Sentence = (at: string, host: string) => string;

const NO_NAME: Sentence = (_, host) =>
  `No host is called ${host}; correct the address, or look after your network`;
const NO_ANSWER: Sentence = (at) =>
  `${at} does not answer in time; it may be busy, or a firewall keeps you out`;
const CUT: Sentence = (at) =>
  `${at} closed the connection without an answer; ask again, or look whether a proxy is in between`;
const NO_WAY: Sentence = (_, host) => `There is no way to ${host} from here; look after your network`;
const UNTRUSTED: Sentence = (at) =>
  `The certificate of ${at} is signed by nobody you trust; name its authority: NODE_EXTRA_CA_CERTS=<file>`;
const PLAIN: Sentence = (at) => `${at} does not speak TLS; try it with http:// instead of https://`;

const SENTENCES: Readonly<Record<string, Sentence>> = {
  ECONNREFUSED: (at) => `Nothing listens at ${at}; start a server there, or give another address`,
  ENOTFOUND: NO_NAME,
  EAI_AGAIN: NO_NAME,
  EAI_FAIL: NO_NAME,
  ETIMEDOUT: NO_ANSWER,
  UND_ERR_CONNECT_TIMEOUT: NO_ANSWER,
  UND_ERR_HEADERS_TIMEOUT: NO_ANSWER,
  UND_ERR_BODY_TIMEOUT: NO_ANSWER,
  ECONNRESET: CUT,
  EPIPE: CUT,
  UND_ERR_SOCKET: CUT,
  EHOSTUNREACH: NO_WAY,
  ENETUNREACH: NO_WAY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: (at) => `The certificate of ${at} has expired`,
  CERT_NOT_YET_VALID: (at) => `The certificate of ${at} is not valid yet; is your clock right?`,
  ERR_TLS_CERT_ALTNAME_INVALID: (at, host) => `The certificate of ${at} is not for ${host}`,
  ERR_SSL_WRONG_VERSION_NUMBER: PLAIN,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: PLAIN,
  EPROTO: PLAIN,
  HPE_INVALID_CONSTANT: (at) => `What answers at ${at} does not speak HTTP; is it the right port?`,
};

export function unreachableSentence(error: UnreachableError): string {
  const { baseUrl, timedOut } = error;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : baseUrl;
  const code = timedOut ? "ETIMEDOUT" : codesOf(error).find((each) => each in SENTENCES);
  const sentence = code === undefined ? undefined : SENTENCES[code];
  return sentence === undefined ? error.message : sentence(baseUrl, host);
}

/** fetch says only "fetch failed"; what failed is the cause, or of several addresses that were tried the first. */
function codesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  const own = "code" in error && typeof error.code === "string" ? [error.code] : [];
  const tried = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  const ssl = /wrong version number|packet length too long/i.test(error.message) ? ["EPROTO"] : [];
  return [...ssl, ...own, ...tried, ...codesOf(error.cause)];
}
