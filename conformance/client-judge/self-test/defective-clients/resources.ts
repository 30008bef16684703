/** Clients whose logs, inventories, alerts, configuration or control maps are bad. */
import {
  all,
  body,
  copyOf,
  type DefectiveClient,
  dropSteps,
  editSteps,
  insert,
  logOf,
  repeated,
} from '../alter.ts';
import { authenticationRequest } from '../steps.ts';

const pausingMap = {
  update_control_map: { states: { ArtifactInstall_Enter: { action: 'pause' } } },
};

export const resources: readonly DefectiveClient[] = [
  {
    duty: 'log.shape',
    description: 'writes times without a zone',
    alter: body('f1: log', {
      messages: [{ timestamp: '2026-01-31 12:00:00', level: 'e', message: 'm' }],
    }),
  },
  {
    duty: 'log.not-empty',
    description: 'uploads an empty log',
    alter: body('f1: log', { messages: [] }),
  },
  {
    duty: 'log.no-secrets',
    description: 'writes its token into the log',
    alter: body('f1: log', (sent) => {
      const message = 'Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJkIn0.c2ln';
      sent.messages = [{ timestamp: '2026-01-31T12:00:00Z', level: 'e', message }];
    }),
  },
  {
    duty: 'log.limit',
    description: 'uploads 2 MiB',
    alter: body('f1: log', {
      messages: [{ timestamp: '2026-01-31T12:00:00Z', level: 'e', message: 'm'.repeat(2 ** 21) }],
    }),
  },
  {
    duty: 'log.on-failure',
    description: 'uploads no log',
    alter: all(dropSteps('f1: log'), repeated('f1: poll after', 12)),
  },
  {
    duty: 'log.on-failure',
    description: 'drops a log that was answered with 401',
    alter: all(
      editSteps('f1: log', { status: 401 }),
      insert('f1: log', (copy) => {
        const token = copy.headers.Authorization?.slice('Bearer '.length);
        return [
          authenticationRequest('new token', { status: 200, response: token, afterMs: 20_000 }),
        ];
      }),
      repeated('f1: poll after', 12),
    ),
  },
  {
    duty: 'log.on-failure',
    description: 'uploads a log with the second failure and none with the first',
    alter: dropSteps('f1: log'),
  },
  {
    duty: 'log.413-stops',
    description: 'sends a log once more that was too large',
    alter: insert('f1: poll after', (copy) =>
      [1, 2].map((each) =>
        logOf(copy, 'f1', { label: `log ${each}`, status: 413, afterMs: 10_000 }),
      ),
    ),
  },
  {
    duty: 'log.413-stops',
    description: 'repeats a log that was too large',
    alter: repeated('f1: log', 4, { status: 413, afterMs: 2000 }),
  },
  {
    duty: 'inventory.types',
    description: 'sends a boolean',
    alter: editSteps('first inventory', (step) => {
      step.sent = [...(step.sent as unknown[]), { name: 'b', value: true }];
    }),
  },
  {
    duty: 'inventory.names',
    description: 'sends an attribute without a name',
    alter: editSteps('first inventory', (step) => {
      step.sent = [...(step.sent as unknown[]), { value: 'x' }];
    }),
  },
  {
    duty: 'inventory.names-once',
    description: 'sends a name twice',
    alter: editSteps('first inventory', (step) => {
      const [firstAttribute, ...otherAttributes] = step.sent as unknown[];
      step.sent = [firstAttribute, firstAttribute, ...otherAttributes];
    }),
  },
  {
    duty: 'inventory.bounded',
    description: 'sends 150 attributes',
    alter: editSteps('m1: inventory', (step) => {
      const more = Array.from({ length: 150 }, (_, at) => ({ name: `n${at}`, value: at }));
      step.sent = [...(step.sent as unknown[]), ...more];
    }),
  },
  {
    duty: 'inventory.device-type-agrees',
    description: 'states another type in its inventory',
    alter: editSteps('d1: inventory', (step) => {
      step.sent = [{ name: 'device_type', value: 'Board' }, ...(step.sent as unknown[]).slice(1)];
    }),
  },
  {
    duty: 'inventory.types-stable',
    description: 'sends a number as a string the second time',
    alter: editSteps('d1: inventory', (step) => {
      const [type, name, , addresses] = step.sent as unknown[];
      step.sent = [type, name, { name: 'cpu_load', value: '0.42' }, addresses];
    }),
  },
  {
    duty: 'inventory.types-stable',
    description: 'sends a number as a string by PATCH',
    alter: insert('d1: inventory', (copy) => [
      {
        ...copy,
        label: 'patch',
        operation: 'patch-attributes',
        sent: [{ name: 'cpu_load', value: '0.42' }],
      },
    ]),
  },
  {
    duty: 'inventory.put-keeps-names',
    description: 'sends one changed attribute by PUT',
    alter: editSteps('d1: inventory', { sent: [{ name: 'cpu_load', value: 0.5 }] }),
  },
  {
    duty: 'inventory.after-update',
    description: 'sends no inventory after an update',
    alter: all(dropSteps(/^d\d: inventory/), repeated('d3: poll after', 12)),
  },
  {
    duty: 'inventory.on-acceptance',
    description: 'sends its first inventory after twenty polls',
    alter: all(dropSteps('first inventory'), repeated('idle 2', 14)),
  },
  {
    duty: 'config.strings',
    description: 'reports a number in its configuration',
    alter: body('c1: configuration', { interval: 60 }),
  },
  {
    duty: 'config.strings',
    description: 'reports a key twice',
    alter: editSteps('c1: configuration', (step) => {
      step.sent = `{"timezone":"CET",${JSON.stringify(step.sent).slice(1)}`;
    }),
  },
  {
    duty: 'config.reports-after-apply',
    description: 'does not report its configuration',
    alter: all(dropSteps('c1: configuration'), repeated('c1: poll after', 12)),
  },
  {
    duty: 'alert.shape',
    description: 'sends an alert without its subject',
    alter: editSteps('alert', {
      sent: [{ name: 'a', level: 'OK', timestamp: '2026-01-31T12:05:00Z' }],
    }),
  },
  {
    duty: 'alert.no-flood',
    description: 'repeats an alert in 100 ms',
    alter: repeated('alert', 2, { afterMs: 100 }),
  },
  {
    duty: 'alert.clock-set',
    description: 'sends an alert of 1970',
    alter: editSteps('alert', (step) => {
      const [firstAlert] = step.sent as object[];
      step.sent = [{ ...firstAlert, timestamp: '1970-01-01T00:01:12Z' }];
    }),
  },
  {
    duty: 'monitor.config-shape',
    description: 'leaves out the type of a monitor',
    alter: editSteps('monitors', { sent: [{ name: 'sshd', status: 'enabled' }] }),
  },
  {
    duty: 'map.announced-only-if-kept',
    description: 'goes on where the map pauses',
    alter: dropSteps(/^m1: (pause|map)/),
  },
  {
    duty: 'map.announced-only-if-kept',
    description: 'goes on once it has fetched the map, whatever that says',
    alter: editSteps('m1: map', { response: pausingMap }),
  },
  {
    duty: 'map.reports-pause',
    description: 'pauses without a report',
    alter: all(
      dropSteps('m1: pause'),
      insert('m1: map', (copy) => [{ ...copyOf(copy), label: 'm1: map again' }]),
      editSteps('m1: map', { response: pausingMap }),
    ),
  },
  {
    duty: 'map.fetches',
    description: 'fetches the map every 100 ms while it pauses',
    alter: repeated('m1: map', 5, { afterMs: 100 }),
  },
  {
    duty: 'map.404-ends',
    description: 'fetches a map that is gone again and again',
    alter: repeated('m1: map', 5, { status: 404, response: { error: 'not found' } }),
  },
];
