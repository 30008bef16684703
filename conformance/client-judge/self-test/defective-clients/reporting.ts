/** Clients that report badly. */
import {
  all,
  body,
  copyOf,
  type DefectiveClient,
  download,
  dropSteps,
  editSteps,
  insert,
  logOf,
  provides,
  repeated,
  scene,
  silentAfter,
} from '../alter.ts';
import { authenticationRequest } from '../steps.ts';

export const reporting: readonly DefectiveClient[] = [
  {
    duty: 'report.final',
    description: 'begins the next deployment without a final status',
    alter: all(
      dropSteps(/^d1: success/),
      provides('d1: poll after', { artifact_name: 'one' }),
      dropSteps('d1: poll after'),
      provides('d2: offer', { artifact_name: 'one' }),
    ),
  },
  {
    duty: 'report.final',
    description: 'reports nothing at all on a deployment that it fetched',
    alter: all(dropSteps(/^f1: (failure|log)/), editSteps('f1: poll after', { status: 404 })),
  },
  {
    duty: 'report.already-installed',
    description: 'downloads what it has installed',
    alter: all(
      scene('installed-already', 'd1: inventory', 'd2: inventory'),
      editSteps('d2: offer', (step) => {
        const response = structuredClone(step.response) as { artifact: object };
        Object.assign(response.artifact, { artifact_name: 'two' });
        step.response = response;
      }),
    ),
  },
  {
    duty: 'report.survives-power-cut',
    description: 'sends no request after a power cut',
    alter: silentAfter('d4: started'),
  },
  {
    duty: 'report.second-deployment',
    description: 'reports on the former deployment',
    alter: editSteps('d2: downloading', { id: 'd1' }),
    consequences: ['report.final-once'],
  },
  {
    duty: 'report.second-deployment',
    description: 'reports on the former deployment after its first report on the next',
    alter: editSteps('d2: installing', { id: 'd1' }),
    consequences: ['report.final-once'],
  },
  {
    duty: 'report.no-loop',
    description: 'fetches a failed deployment again',
    alter: insert('f1: log', () => [download('f1', { afterMs: 4000 })]),
  },
  {
    duty: 'report.final-once',
    description: 'reports downloading after success',
    alter: insert('d1: success', (copy) => [
      { ...copy, label: 'again', sent: { status: 'downloading' } },
    ]),
  },
  {
    duty: 'report.final-once',
    description: 'reports failure after success',
    alter: insert('d1: success', (copy) => [
      { ...copy, label: 'again', sent: { status: 'failure' } },
      logOf(copy, 'd1'),
      { ...copyOf(copy), label: 'once more' },
    ]),
  },
  {
    duty: 'report.vocabulary',
    description: 'reports a status of its own',
    alter: body('d2: installing', { status: 'verifying' }),
  },
  {
    duty: 'report.shape',
    description: 'reports a substate that is a number',
    alter: body('d2: installing', { substate: 3 }),
  },
  {
    duty: 'report.own-deployment',
    description: 'reports on a deployment that it was not given',
    alter: insert('d2: installing', (copy) => [
      { ...copy, label: 'foreign', id: 'x9', status: 404 },
    ]),
  },
  {
    duty: 'report.own-deployment',
    description: 'writes the ID of its deployment in capitals',
    alter: editSteps('d2: installing', { id: 'D2' }),
  },
  {
    duty: 'report.success-only-if-installed',
    description: 'reports success without a download',
    alter: dropSteps('d2: download'),
  },
  {
    duty: 'report.retries-final',
    description: 'forgets a report that failed',
    alter: all(
      dropSteps(/^d2: (success|inventory)/),
      provides('d2: poll after', { artifact_name: 'two' }),
      repeated('d2: poll after', 5),
    ),
  },
  {
    duty: 'report.retries-final',
    description: 'drops a final status that was answered with 401',
    alter: all(
      editSteps('d2: lost', { status: 401 }),
      insert('d2: lost', (copy) => {
        const token = copy.headers.Authorization?.slice('Bearer '.length);
        return [
          authenticationRequest('new token', { status: 200, response: token, afterMs: 20_000 }),
        ];
      }),
      dropSteps(/^d2: (success|inventory)/),
      provides('d2: poll after', { artifact_name: 'two' }),
      repeated('d2: poll after', 5),
    ),
  },
  {
    duty: 'report.retries-bounded-rate',
    description: 'repeats a report that failed every 1.5 s',
    alter: repeated('d2: lost', 7, { afterMs: 1500 }),
  },
  {
    duty: 'report.retries-bounded-rate',
    description: 'repeats a report that failed every 200 ms',
    alter: repeated('d2: lost', 5, { afterMs: 200 }),
  },
  {
    duty: 'report.stops-at-409',
    description: 'downloads after the abort',
    alter: insert('f2: installing', () => [download('f2', { afterMs: 4000 })]),
  },
  {
    duty: 'report.stops-at-409',
    description: 'reports success after the abort, and polls with the new name',
    alter: all(
      insert('f2: installing', (copy) => [
        { ...copyOf(copy), label: 'f2: success', sent: { status: 'success' } },
      ]),
      provides('f2: poll after', { artifact_name: 'aborted' }),
    ),
  },
  {
    duty: 'report.409-ends-reporting',
    description: 'reports on after the abort',
    alter: repeated('f2: installing', 3),
  },
  {
    duty: 'report.404-handled',
    description: 'reports on a deployment that is gone',
    alter: repeated('d2: installing', 5, { status: 404 }),
  },
  {
    duty: 'report.no-false-success-after-cut',
    description: 'reports success although the cut left the file in parts',
    alter: editSteps('d4: download', { responseBytes: 100_000, isDelivered: false }),
  },
];
