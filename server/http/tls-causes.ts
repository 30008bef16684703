/** The causes that end a TLS handshake, each with its sentence and the remedy. */
import type { RefusalCause } from './head-causes.ts';

/** Code for a connection that the client closed within the TLS handshake. */
export const cutOffHandshakeCode = 'ERR_TLS_HANDSHAKE_CUT_OFF';
/** Code for a client certificate that the server refuses; the reason is that of OpenSSL. */
export const refusedCertificateCode = 'ERR_TLS_CLIENT_CERTIFICATE';

/** Problems of a client's certificate, by the code of OpenSSL. */
const certificateProblems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  INVALID_PURPOSE: 'is not for clients',
};

/** All causes of handshakes; the last row takes what no other one names. */
export const tlsCauses: readonly RefusalCause[] = [
  {
    id: 'certificate-not-trusted',
    is: ({ code }) =>
      /UNKNOWN_CA|CERTIFICATE_(?:UNKNOWN|EXPIRED|REVOKED)|BAD_CERTIFICATE/.test(code),
    what: () => "the client does not accept the server's certificate",
    remedy:
      'give the client the CA certificate of the server, and call it by a name in its certificate',
  },
  {
    id: 'tls-version',
    is: ({ code }) => /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|VERSION_TOO_LOW/.test(code),
    what: () => 'the client offers no TLS version that the server accepts',
    remedy: 'use TLS 1.2 or 1.3',
  },
  {
    id: 'tls-cipher',
    is: ({ code }) => /NO_SHARED_CIPHER|NO_SUITABLE_SIGNATURE/.test(code),
    what: () => 'client and server have no cipher suite or signature algorithm in common',
    remedy: 'offer the suites of TLS 1.3, or ECDHE with AES-GCM',
  },
  {
    id: 'no-client-certificate',
    is: ({ code }) => /PEER_DID_NOT_RETURN_A_CERTIFICATE/.test(code),
    what: () => 'the client sent no certificate, and --tls-client-ca requires one',
    remedy: 'send a certificate of that CA',
  },
  {
    id: 'client-certificate-refused',
    is: ({ code }) => code === refusedCertificateCode,
    what: ({ reason }) =>
      `the client's certificate ${certificateProblems[reason] ?? 'is not from a CA of --tls-client-ca'}`,
    remedy: 'send a certificate for clients of that CA, which is valid now',
  },
  {
    id: 'tls-protocol',
    is: ({ code }) => /NO_APPLICATION_PROTOCOL/.test(code),
    what: () => 'by ALPN the client offers no protocol of this server, as with h2 alone',
    remedy: 'offer http/1.1, or send no ALPN',
  },
  {
    id: 'tls-handshake-cut-off',
    is: ({ code }) => code === cutOffHandshakeCode,
    what: () => 'the client closed the connection during the TLS handshake',
    remedy:
      'check the log of the client: it may not trust the certificate, or lack time or memory for the handshake',
  },
  {
    id: 'tls-handshake-timed-out',
    is: ({ code }) => code === 'ERR_TLS_HANDSHAKE_TIMEOUT',
    what: () => 'the TLS handshake did not end in time',
    remedy: 'send the ClientHello at once, and use the scheme https:// in the URL',
  },
  {
    id: 'tls-failed',
    is: ({ code }) => /^ERR_(?:SSL|TLS)_/.test(code),
    what: ({ code }) => `the TLS handshake failed (${code})`,
    remedy: 'begin with a complete ClientHello of TLS 1.2 or 1.3',
  },
];
