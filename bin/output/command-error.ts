/**
 * Converts any error to one sentence with a remedy, and to an exit code. Only this file produces
 * the error text of the command line.
 */
import { type ExitCode, exitCodes } from './exit-codes.ts';

/** An expected error of a command: its message is a complete sentence with a remedy. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** The printed sentence and the exit code of an error. */
export interface ErrorDescription {
  readonly exitCode: ExitCode;
  readonly sentence: string;
}

const checkServer = 'check --url and that the server is running';
const trust = 'give its certificate, or that of its authority, with --ca FILE';
const otherPort = 'choose another port, or 0 for any free one';

/** Sentences for a server that cannot listen, by the system's error code. */
const notListening: Readonly<Record<string, (at: { port: number; address: string }) => string>> = {
  EADDRINUSE: ({ port }) => `port ${port} is in use; ${otherPort}`,
  EACCES: ({ port }) => `this user may not listen on port ${port}; ${otherPort}`,
  EADDRNOTAVAIL: ({ address }) =>
    `${address} is not an address of this machine; check --host and --control-host`,
};

/** Sentences with cause and remedy, by error codes of the system and of TLS. */
const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: `nothing listens there; ${checkServer}`,
  ECONNRESET: `the connection was closed; ${checkServer}`,
  ENOTFOUND: `no host has this name; ${checkServer}`,
  EAI_AGAIN: `the host's name cannot be resolved; ${checkServer}`,
  EHOSTUNREACH: `the host cannot be reached; ${checkServer}`,
  ENETUNREACH: `the host's network cannot be reached; ${checkServer}`,
  ETIMEDOUT: `no response came in time; ${checkServer}`,
  UND_ERR_SOCKET: `the connection was closed; ${checkServer}`,
  UND_ERR_CONNECT_TIMEOUT: `no response came in time; ${checkServer}`,
  HPE: `the server there is not an HTTP server; ${checkServer}`,
  EPROTO: 'the server there does not speak TLS; try http:// in place of https://',
  ERR_SSL_WRONG_VERSION_NUMBER:
    'the server there does not speak TLS; try http:// in place of https://',
  DEPTH_ZERO_SELF_SIGNED_CERT: `the server's certificate is self-signed; ${trust}`,
  SELF_SIGNED_CERT_IN_CHAIN: `the authority of the server's certificate is unknown; ${trust}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the authority of the server's certificate is unknown; ${trust}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `the authority of the server's certificate is unknown; ${trust}`,
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another host; check --url",
  CERT_HAS_EXPIRED: "the server's certificate has expired; renew it",
  'bad port': 'HTTP clients block this port, because another protocol uses it; choose another port',
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; check both clocks",
};

/**
 * Returns the sentence and the exit code for any thrown value.
 * @param server the subject of the error, such as the base URL; the sentence starts with it
 */
export function describeError(error: unknown, server?: string): ErrorDescription {
  const chain = causes(error);
  const foreseen = chain.find((cause) => cause instanceof CommandError);
  if (foreseen) return { exitCode: foreseen.exitCode, sentence: foreseen.message };
  for (const cause of chain) {
    const listening = notListening[codeOf(cause)];
    // A file without permission has the same error code as a privileged port.
    if (listening && ('port' in cause || Reflect.get(cause, 'syscall') === 'listen')) {
      // Node omits the port when it is 0.
      const { port = 0, address = '' } = cause as { port?: number; address?: string };
      return { exitCode: exitCodes.setUp, sentence: listening({ port, address }) };
    }
    const sentence = sentences[codeOf(cause)];
    if (!sentence) continue;
    const port = 'port' in cause && cause.port ? `port ${cause.port}` : undefined;
    return { exitCode: exitCodes.setUp, sentence: `${server ?? port ?? 'network'}: ${sentence}` };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: exitCodes.internal, sentence: `internal error: ${message}` };
}

/**
 * Returns the error of a run that could not be set up: the sentence of a known error code with the
 * option that helps, otherwise the message of the error.
 * @param server the subject of the error, such as the base URL
 */
export function setupError(error: Error, server: string): CommandError {
  const { exitCode, sentence } = describeError(error, server);
  const isKnown = exitCode === exitCodes.setUp;
  const unknown = error.message === 'fetch failed' ? failedFetch(error, server) : error.message;
  const text = isKnown ? `${sentence}${proxyHint(server)}` : unknown;
  return new CommandError(text, exitCodes.setUp, error);
}

const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY'];

/**
 * Returns a hint about proxy variables: other tools would reach the same address through the proxy,
 * but fleetbed ignores it.
 */
function proxyHint(server: string): string {
  const host = URL.canParse(server) ? new URL(server).hostname : 'localhost';
  const name = proxyVariables.find((each) => process.env[each]);
  if (name === undefined || /^(?:localhost|127\..*|\[::1\])$/.test(host)) return '';
  return ` (${name} is set, but fleetbed connects without a proxy)`;
}

/**
 * Returns a sentence with the innermost cause, because the message "fetch failed" explains nothing.
 */
function failedFetch(error: Error, server: string): string {
  const innermost = causes(error).at(-1) ?? error;
  return `${server}: the request failed (${innermost.message}); ${checkServer}`;
}

const CAUSES_MAX = 8;

function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  let cause = error;
  while (cause instanceof Error && chain.length < CAUSES_MAX) {
    chain.push(cause);
    cause = cause instanceof AggregateError ? cause.errors[0] : cause.cause;
  }
  return chain;
}

/**
 * Returns the code of an error. Every error of an HTTP parser has the code `HPE`; the error for a
 * blocked port has no code, so its message is used.
 */
function codeOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (error.message === 'bad port') return error.message;
  return code.startsWith('HPE_') || error.name === 'HTTPParserError' ? 'HPE' : code;
}
