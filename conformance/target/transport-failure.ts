/** Requests without an HTTP response, by cause. Such a failure is not a verdict on the target. */

/** Stable codes; each is also the reason of an inconclusive verdict. */
export const transportCodes = [
  'unreachable',
  'certificate-not-trusted',
  'connection-closed',
  'not-http',
  'response-too-large',
  'request-time-limit',
  'asked-to-wait',
  'interrupted',
] as const;
export type TransportCode = (typeof transportCodes)[number];

/** A request without a response. */
export class TransportFailure extends Error {
  readonly code: TransportCode;

  constructor(code: TransportCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'TransportFailure';
    this.code = code;
  }
}

const codesOfCauses: Readonly<Record<string, TransportCode>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate-not-trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate-not-trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate-not-trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate-not-trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate-not-trusted',
  CERT_HAS_EXPIRED: 'certificate-not-trusted',
  CERT_NOT_YET_VALID: 'certificate-not-trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-not-trusted',
  ECONNREFUSED: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'unreachable',
  UND_ERR_CONNECT_TIMEOUT: 'unreachable',
  ECONNRESET: 'connection-closed',
  EPIPE: 'connection-closed',
  UND_ERR_SOCKET: 'connection-closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'connection-closed',
  EPROTO: 'not-http',
  UND_ERR_HEADERS_OVERFLOW: 'response-too-large',
  HPE_HEADER_OVERFLOW: 'response-too-large',
};

/**
 * Returns the failure behind an error of undici, ws or node:http. Returns undefined for an error
 * that did not occur in the transport, and is therefore a bug of the suite.
 */
export function transportFailureOf(error: unknown): TransportFailure | undefined {
  if (error instanceof TransportFailure) return error;
  const cause = codeOf(error);
  const code = codesOfCauses[cause] ?? (/^(HPE|ERR_SSL)_/.test(cause) ? 'not-http' : undefined);
  if (code === undefined) return undefined;
  const text = error instanceof Error && error.message !== '' ? error.message : 'no response';
  return new TransportFailure(code, `${text} (${cause})`, error);
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Undici sets no code when it meets something other than HTTP.
  return error.name === 'HTTPParserError' ? 'HPE_INVALID' : '';
}
