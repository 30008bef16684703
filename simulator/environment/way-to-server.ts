/**
 * Checks of the connection to a server: the server is reachable, its certificate is trusted, and it
 * implements the API.
 */
import { X509Certificate } from 'node:crypto';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect, isIP } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock } from '../../fixtures/base/clock.ts';
import { readPlainFile } from '../../fixtures/base/plain-file.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type EnvironmentCheck, failedCheck, passedCheck, warningCheck } from './check.ts';

/** The address of the server, and how to connect to it. */
export interface ServerCheckOptions {
  readonly url: URL;
  /** Certificates to trust in place of Node's built-in authorities. */
  readonly caPem: string | undefined;
  readonly clock: Clock;
  /** Returns a sentence about an error: the observation, `; ` and the remedy. */
  readonly sentenceOf: (error: Error, host: string) => string;
}

/** The result of the API check, with facts for the clock check. */
export interface ServerResponse {
  readonly check: EnvironmentCheck;
  /** The Date header, in milliseconds since the Unix epoch. */
  readonly dateMs?: number;
  /** True when the server's header says that its time differs from the system's. */
  readonly isAdjusted: boolean;
}

/** Time limit of each step, including the name lookup. */
const STEP_LIMIT_MS = 5000;
const EXPIRY_NEAR_DAYS = 7;
const DAY_MS = 86_400_000;

/** Checks that the address of the server accepts connections. */
export async function reachCheck({
  url,
  clock,
  sentenceOf,
}: ServerCheckOptions): Promise<EnvironmentCheck> {
  const name = 'reachability';
  const error = await runStep(clock, (done) => {
    const socket = connect({ host: hostOf(url), port: portOf(url) }, () => done(undefined));
    socket.on('error', done);
    return socket;
  });
  if (!error) return passedCheck(name, `${url.host} accepts connections.`);
  return failedCheck(name, ...splitErrorSentence(error, url, sentenceOf));
}

/** Checks that the server's certificate is trusted and does not expire soon. */
export async function tlsCheck({
  url,
  caPem,
  clock,
  sentenceOf,
}: ServerCheckOptions): Promise<EnvironmentCheck> {
  const name = 'TLS';
  if (url.protocol === 'http:') return passedCheck(name, 'Not used: the URL is http://.');
  const host = hostOf(url);
  const options: ConnectionOptions = {
    host,
    port: portOf(url),
    ...(isIP(host) === 0 && { servername: host }),
    ...(caPem !== undefined && { ca: caPem }),
    rejectUnauthorized: true,
  };
  let validTo = Number.NaN;
  let protocol: string | null = null;
  const error = await runStep(clock, (done) => {
    const socket: TLSSocket = connectTls(options, () => {
      validTo = Date.parse(socket.getPeerCertificate().valid_to);
      protocol = socket.getProtocol();
      done(undefined);
    });
    socket.on('error', done);
    return socket;
  });
  if (error) return failedCheck(name, ...splitErrorSentence(error, url, sentenceOf));
  const days = Math.floor((validTo - clock.now()) / DAY_MS);
  const finding = `The certificate is trusted (${protocol}) and valid for ${days} more days.`;
  if (days >= EXPIRY_NEAR_DAYS) return passedCheck(name, finding);
  return warningCheck(name, finding, 'Renew it before it expires during a run.');
}

/** Checks that the server implements the API: it must answer 401 to a request without a token. */
export async function responseCheck({
  url,
  caPem,
  clock,
  sentenceOf,
}: ServerCheckOptions): Promise<ServerResponse> {
  const name = 'API';
  const { method, path } = operations['get-configuration'];
  const target = new URL(`${url.pathname.replace(/\/$/, '')}${path}`, url);
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  let response: IncomingMessage | undefined;
  const error = await runStep(clock, (done) => {
    const options = { method, agent: false, ...(caPem !== undefined && { ca: caPem }) } as const;
    const request = send(target, options, (received) => {
      response = received;
      done(undefined);
    });
    request.on('error', done);
    request.end();
    return request;
  });
  if (error || !response) {
    const check = failedCheck(
      name,
      ...splitErrorSentence(error ?? new Error('no response'), url, sentenceOf),
    );
    return { check, isAdjusted: false };
  }
  const { statusCode, headers } = response;
  const dateMs = Date.parse(headers.date ?? '');
  return {
    check:
      statusCode === 401
        ? passedCheck(name, 'The server requires a token, as the API does.')
        : otherStatusCheck(statusCode),
    isAdjusted: Object.keys(headers).some((header) => header.endsWith('-testbed-time')),
    ...(Number.isFinite(dateMs) && { dateMs }),
  };

  function otherStatusCheck(status = 0): EnvironmentCheck {
    const finding = `A request without a token was answered with ${status} instead of 401.`;
    return warningCheck(
      name,
      finding,
      'Check the path of --url, and that no other service answers there.',
    );
  }
}

/** Checks that the additional certificates that Node is told to trust can be read. */
export async function trustCheck(
  environment: Readonly<Record<string, string | undefined>>,
  nowMs: number,
): Promise<EnvironmentCheck> {
  const name = 'trust';
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const finding = 'NODE_TLS_REJECT_UNAUTHORIZED=0 disables all certificate checks.';
    return warningCheck(name, finding, 'Unset it, and trust a certificate with --ca FILE.');
  }
  const file = environment.NODE_EXTRA_CA_CERTS;
  if (file === undefined || file === '')
    return passedCheck(name, 'The certificate authorities built into Node are trusted.');
  const subject = `NODE_EXTRA_CA_CERTS names ${file}`;
  const remedy = 'Set it to a PEM file with certificates, or unset it.';
  const pem = await readPlainFile(file).catch(() => undefined);
  if (pem === undefined) return failedCheck(name, `${subject}, which cannot be read.`, remedy);
  const certificates = certificatesIn(pem);
  if (!certificates)
    return failedCheck(name, `${subject}, which contains no certificates.`, remedy);
  const expired = certificates.filter(({ validTo }) => Date.parse(validTo) < nowMs).length;
  // Some expired certificates are normal: every operating system's own bundle has some.
  const chainFinding = `${subject}, with ${certificates.length} certificates, ${expired} of them expired.`;
  return expired < certificates.length
    ? passedCheck(name, chainFinding)
    : warningCheck(name, chainFinding, 'Renew them.');
}

const CERTIFICATES_MAX = 1000;

/** Returns all certificates in the text; undefined when there are none or one is damaged. */
function certificatesIn(pem: string): X509Certificate[] | undefined {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    const certificates = blocks
      .slice(0, CERTIFICATES_MAX)
      .map((block) => new X509Certificate(block));
    return certificates.length > 0 ? certificates : undefined;
  } catch {
    // Node ignores the whole file when one block is damaged.
    return undefined;
  }
}

/**
 * Runs a step with a time limit and closes the socket or request that it opened.
 * @returns the error of the step; undefined when it succeeded
 */
async function runStep(
  clock: Clock,
  begin: (done: (error: Error | undefined) => void) => { destroy(): unknown },
): Promise<Error | undefined> {
  let connection: { destroy(): unknown } | undefined;
  const error = await new Promise<Error | undefined>((resolve) => {
    const limit = clock.after(STEP_LIMIT_MS, () => resolve(timedOut()));
    connection = begin((outcome) => {
      limit.cancel();
      resolve(outcome);
    });
  });
  connection?.destroy();
  return error;
}

function timedOut(): Error {
  return Object.assign(new Error('no response came in time'), { code: 'ETIMEDOUT' });
}

/** Splits the sentence about an error into the observation and the remedy. */
function splitErrorSentence(
  error: Error,
  url: URL,
  sentenceOf: ServerCheckOptions['sentenceOf'],
): [observation: string, remedy: string] {
  const sentence = sentenceOf(error, url.host);
  const [finding = sentence, remedy = 'check --url and that the server runs'] =
    sentence.split('; ');
  const code = 'code' in error ? String(error.code) : error.message;
  const observation = finding.startsWith('internal error') ? `${url.host}: ${code}` : finding;
  return [`${observation}.`, `${capital(remedy)}.`];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}
