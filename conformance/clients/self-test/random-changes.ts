/** Random alterations of a good client: each alters one request, whatever it is. */
import type { Request, Step } from './steps.ts';

/** Alterations of one request, whatever it is. Each returns false if the request has no such part. */
export const randomChanges: Readonly<Record<string, (step: Request, steps: Step[]) => boolean>> = {
  'leaves it out': (step, steps) => {
    steps.splice(steps.indexOf(step), 1);
    return true;
  },
  'repeats it five times at once': (step, steps) => {
    const copies = Array.from({ length: 5 }, () => ({ ...step, afterMs: 20 }));
    steps.splice(steps.indexOf(step) + 1, 0, ...copies);
    return true;
  },
  'sends it without its token': (step) => {
    const { Authorization: token, ...headers } = step.headers;
    step.headers = headers;
    return token !== undefined;
  },
  'cuts its body in half': (step) => {
    const text = typeof step.sent === 'string' ? step.sent : JSON.stringify(step.sent);
    step.sent = text?.slice(0, text.length / 2);
    return text !== undefined;
  },
  'sends a number for a string in its body': (step) => {
    const text = JSON.stringify(step.sent);
    if (typeof step.sent === 'string' || text === undefined) return false;
    step.sent = JSON.parse(text.replace(/:"[^"]*"/, ':7'));
    return JSON.stringify(step.sent) !== text;
  },
  'names another deployment': (step) => {
    if (step.id === undefined || step.target !== undefined) return false;
    Object.assign(step, { id: 'another', status: 404 });
    return true;
  },
  'sends its body as text': (step) => {
    step.headers['Content-Type'] = 'text/plain';
    return step.sent !== undefined;
  },
  'calls it by another path': (step) => {
    step.target = '/api/devices/v1/elsewhere';
    step.status = 404;
    return true;
  },
};
