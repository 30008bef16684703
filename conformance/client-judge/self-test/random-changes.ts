/** Random alterations of a good client: each alters one request, whatever it is. */
import { isReportableFinal } from '../exchange-facts.ts';
import type { Request, Step } from './steps.ts';

/** An alteration of one request. */
export interface RandomChange {
  /** Alters a request. Returns false if it has no such part. */
  readonly alter: (step: Request, steps: Step[]) => boolean;
  /** The requests, by their labels, that may be altered so without breaking a duty, and why. */
  readonly conforming?: readonly (readonly [labels: RegExp, reason: string])[];
}

/** Copies that are sent at once; ten polls in a row break a duty. */
const COPIES = 12;

/** Every alteration, by what the altered client does. */
export const randomChanges: Readonly<Record<string, RandomChange>> = {
  'leaves it out': {
    alter: (step, steps) => {
      const at = steps.indexOf(step);
      steps.splice(at, 1);
      if (isFinalReport(step)) offerAgain(steps, at);
      return true;
    },
    conforming: [
      [/^pending|^idle|^last|^outage|^busy$|^asked|^each second|^v[12] /, 'it polls when it likes'],
      [/^\w\d: poll|^poll (before|after re|after ex)/, 'it polls when it likes'],
      [/^busy again [2-7]|^after (outage|busy again|refused)/, 'it polls when it likes'],
      [/^(revoked|expired)$/, 'it may also authenticate before its token is refused'],
      [/: (downloading|installing)$/, 'intermediate reports are optional'],
      [/^d2: lost/, 'the report that follows is then the first attempt'],
      [/^d4: (probe|map)|^monitors|^alert$|^refused$/, 'no duty requires it'],
      [/^d[1-4]: inventory/, 'the next one comes within ten polls'],
      [/^f1: download|^d5: (cut|again)/, 'it fails, or fetches the whole file later'],
      [/^d3: download/, 'a redirect may lead to a server that the judge does not see'],
      [/offer|token|^connect/, 'what follows needs the response, so that no client could send it'],
    ],
  },
  [`repeats it ${COPIES} times at once`]: {
    alter: (step, steps) => {
      const copies = Array.from({ length: COPIES }, () => ({ ...step, afterMs: 20 }));
      steps.splice(steps.indexOf(step) + 1, 0, ...copies);
      return true;
    },
    conforming: [
      [/^[dfm]\d: offer$/, 'polls that bring an update are exempt'],
      [
        /^(?!f2: inst).*: (downloading|installing|pause|success|failure)$/,
        'equal reports may be repeated',
      ],
      [/inventory|configuration|monitors|: log$/, 'no duty bounds how often it is sent'],
      [/token/, 'authentication requests that succeed are only counted'],
    ],
  },
  'sends it without its token': {
    alter: (step) => {
      const { Authorization: token, ...headers } = step.headers;
      step.headers = headers;
      return token !== undefined;
    },
  },
  'cuts its body in half': {
    alter: (step) => {
      const text = typeof step.sent === 'string' ? step.sent : JSON.stringify(step.sent);
      step.sent = text?.slice(0, text.length / 2);
      return text !== undefined;
    },
  },
  'sends a number for a string in its body': {
    alter: (step) => {
      const text = JSON.stringify(step.sent);
      if (typeof step.sent === 'string' || text === undefined) return false;
      step.sent = JSON.parse(text.replace(/:"[^"]*"/, ':7'));
      return JSON.stringify(step.sent) !== text;
    },
  },
  'names another deployment': {
    alter: (step) => {
      if (step.id === undefined || step.target !== undefined) return false;
      Object.assign(step, { id: 'another', status: 404 });
      return true;
    },
    conforming: [[/^d4: map/, 'it may request the map of a deployment that the judge did not see']],
  },
  'sends its body as text': {
    alter: (step) => {
      step.headers['Content-Type'] = 'text/plain';
      return step.sent !== undefined;
    },
  },
  'calls it by another path': {
    alter: (step) => {
      step.target = '/api/devices/v1/elsewhere';
      step.status = 404;
      return true;
    },
  },
};

function isFinalReport({ operation, sent }: Request): boolean {
  const { status } = (sent ?? {}) as { readonly status?: unknown };
  return operation === 'put-deployment-status' && isReportableFinal(status);
}

/** Lets the server offer a deployment again until it is ended, or another one is offered. */
function offerAgain(steps: readonly Step[], from: number): void {
  const isOffer = (step: Step): boolean =>
    step.kind === 'request' && step.operation === 'post-next-deployment-v2' && step.status === 200;
  const offer = steps.slice(0, from).findLast(isOffer) as Request;
  for (const step of steps.slice(from)) {
    if (step.kind !== 'request') continue;
    if (isOffer(step) || isFinalReport(step)) return;
    if (step.operation === offer.operation && step.status === 204)
      Object.assign(step, { status: 200, response: offer.response });
  }
}
