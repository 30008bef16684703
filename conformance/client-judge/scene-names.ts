/**
 * The scenes that test what ordinary traffic does not show: for each, what its author does to
 * the client. A client test runs them; whoever watches a client can do the same by hand.
 */
import type { NextStep } from './client-verdict.ts';

const steps = {
  'ordinary-traffic': 'start the client, accept it, and let it poll for a few intervals',
  'first-contact': 'start a client that the server does not know',
  pending: 'leave the client pending for several of its intervals, then accept it',
  'restart-while-pending': 'restart the client while it is pending',
  rejection: 'reject the client, and accept it again after several of its intervals',
  'token-expiry': 'move the clock of the server by eight days',
  revocation: 'revoke the token of the client',
  'other-token': 'issue a token of 4 KB with claims and an algorithm that the client does not know',
  'clock-years-off': 'move the clock of the server by several years',
  update: 'deploy an artifact for the type of the client',
  'second-update': 'deploy a second artifact after the first deployment is finished',
  'update-restart': 'restart the client in the middle of an update',
  'restart-while-installing': 'restart the client after it has reported installing',
  'revoked-in-update':
    'revoke the token of the client before it reports, and before it uploads a log',
  'power-cut': 'cut the power of the client at each point of an update',
  'v2-absent': 'answer 404 to version 2 of the deployments API',
  'legal-variations': 'answer with unknown members, another order and other header case',
  'conflicting-data': 'answer 409 to a poll',
  'other-type': 'offer an artifact for another device type',
  'bad-instructions': 'offer a deployment without a link',
  'wrong-checksum': 'offer an artifact whose checksum does not match',
  'short-body': 'end a download before its last byte',
  'endless-body': 'let the body of a download go on past its end',
  'expired-link': 'let the link of an offer expire',
  'cut-download': 'cut a download in the middle',
  'wrong-range': 'answer a Range with a part that begins elsewhere, or with the whole file',
  'changed-file': 'replace the file between two parts of a download',
  'redirected-link': 'serve the file at another port, and redirect its link',
  'redirected-to-host': 'redirect the link from the host of the API to another host',
  'unsatisfiable-range': 'answer 416 to a Range',
  'failing-download': 'answer every download with 503',
  'compressed-download': 'serve the file with gzip to a client that accepts it',
  'large-artifact': 'deploy an artifact of more than 2 GiB',
  'installed-already': 'offer what is installed',
  abort: 'abort a deployment in each of its states',
  'deployment-gone': 'delete a deployment while the client installs it',
  'lost-report': 'lose the response to each report',
  'failing-update': 'deploy an artifact that the client cannot install',
  'log-too-large': 'answer 413 to the log',
  'control-map': 'deploy with a control map that pauses each state, and lift it later',
  'unrequested-control-map':
    'offer a deployment with a control map that the client did not request',
  inventory: 'let the client send its inventory, before and after an update',
  configuration: 'set a configuration and deploy it',
  monitor: 'let a monitored service of the client fail',
  websocket: 'let the client open its WebSocket, and send it messages',
  'socket-refused': 'refuse the WebSocket of the client',
  'socket-silent': 'stop all traffic on the WebSocket for three minutes',
  'socket-closed': 'close the WebSocket with each close code',
  'socket-wrong-accept': 'answer the handshake with a wrong Sec-WebSocket-Accept',
  overload: 'answer 429, with Retry-After in seconds, as a date, and without it',
  outage: 'answer 503 and cut connections six times in a row',
  'authentication-outage': 'answer 503 and cut connections at authentication, six times in a row',
  'report-outage': 'answer 503 and cut connections at a final status, six times in a row',
  'error-bodies': 'answer errors with empty, HTML, object and very long bodies',
  'bad-request': 'answer 400 to a valid request',
  'restart-of-many': 'restart the server while ten devices or more poll',
  'tls-untrusted':
    'serve a certificate that is expired, of another host, or of an unknown authority',
  'tls-old-version': 'offer TLS 1.1 only',
  'tls-absent': 'serve plain HTTP at the address of the client',
} as const satisfies Readonly<Record<string, string>>;

/** The name of a scene. */
export type SceneName = keyof typeof steps;

/** Scenes that no client test runs, since they need a board, a fleet or gigabytes. */
const withoutCommand: ReadonlySet<SceneName> = new Set([
  ...(['large-artifact', 'compressed-download', 'monitor', 'restart-of-many'] as const),
]);

/** Returns what its author does to test a duty. @param scene undefined for ordinary traffic */
export function nextStep(scene: SceneName = 'ordinary-traffic'): NextStep {
  const option = scene === 'power-cut' ? '--cuts' : `--scene ${scene}`;
  const command = `npx fleetbed conform client ${option} --command '…'`;
  return { text: steps[scene], ...(!withoutCommand.has(scene) && { command }), scene };
}
