/**
 * Defective clients: the example in Python with one violation each, and the duty that it breaks.
 */
import { readFileSync } from 'node:fs';
import { exampleSource } from '../../testing/example-client.ts';

/** A violation: texts of the example that are replaced. */
interface Violation {
  /** The defect of the client, for the title of a test. */
  readonly description: string;
  readonly duty: string;
  /** Duties that the same change breaks as well. */
  readonly consequences?: readonly string[];
  readonly scene: string;
  readonly replaced: readonly (readonly [from: string, to: string])[];
}

export const violations: readonly Violation[] = [
  {
    description: 'sends its bodies as text',
    duty: 'http.documented-operations',
    scene: 'ordinary-traffic',
    replaced: [['"Content-Type": "application/json"', '"Content-Type": "text/plain"']],
  },
  {
    description: 'signs other bytes than it sends',
    duty: 'auth.signs-exact-bytes',
    scene: 'ordinary-traffic',
    replaced: [['self.key, input=body)', 'self.key, input=body + b" ")']],
  },
  {
    description: 'writes the version of its firmware into its identity',
    duty: 'auth.identity-stable',
    scene: 'update',
    replaced: [
      [
        '{"id_data": self.state["identity"],',
        '{"id_data": json.dumps({**json.loads(self.state["identity"]), "v": self.state["installed"]}),',
      ],
    ],
  },
  {
    description: 'names the former artifact after success',
    duty: 'next.name-follows-update',
    scene: 'update',
    replaced: [['self.save(installed=deployment["name"], deployment', 'self.save(deployment']],
  },
  {
    description: 'names the new artifact before it is installed',
    duty: 'next.name-follows-update',
    scene: 'wrong-checksum',
    replaced: [
      [
        '        try:\n            if not deployment["fits"]',
        '        self.save(installed=deployment["name"])\n        try:\n            if not deployment["fits"]',
      ],
    ],
  },
  {
    description: 'waits a second after each failure',
    duty: 'http.backoff',
    scene: 'outage',
    replaced: [
      ['seconds = min(2 ** min(failures, 9), max(5, 2 * self.options.interval))', 'seconds = 1'],
    ],
  },
  {
    description: 'takes a 401 to a report or a log for a response',
    duty: 'auth.renews-on-401',
    consequences: ['log.on-failure', 'next.request-stable', 'report.retries-final'],
    scene: 'revoked-in-update',
    replaced: [
      [
        'status not in (401, 429): return',
        'status != 429 and (status != 401 or path.endswith(("/status", "/log"))): return',
      ],
    ],
  },
  {
    description: 'sends a log again with each poll after a 413',
    duty: 'log.413-stops',
    scene: 'log-too-large',
    replaced: [
      [
        '{"messages": deployment["log"]})',
        '{"messages": deployment["log"]}); self.save(last=[path + "/log", {"messages": deployment["log"]}])',
      ],
      [
        '            if deployment: self.carry_out',
        '            if "last" in self.state: self.call("PUT", *self.state["last"])\n            if deployment: self.carry_out',
      ],
    ],
  },
  {
    description: 'joins whatever a 206 brings, and checks nothing',
    duty: 'get.checks-206',
    scene: 'wrong-range',
    replaced: [
      [' or not place.startswith(f"bytes {have}-")', ''],
      ['begun != whole', 'False'],
      ['if digests != {line[66:]: line[:64] for line in manifest}:', 'if False:'],
      ['if path.read_bytes()[-1024:].strip(b"\\0"):', 'if False:'],
      ['if length >= 0 and', 'if status == 200 and'],
    ],
  },
  {
    description: 'installs a file whose checksums do not match',
    duty: 'get.checksum',
    scene: 'wrong-checksum',
    replaced: [['if digests != {line[66:]: line[:64] for line in manifest}:', 'if False:']],
  },
  {
    description: 'keeps its token in the headers across a redirect',
    duty: 'get.no-token-to-other-hosts',
    scene: 'redirected-to-host',
    replaced: [
      [
        'deployment["uri"], None, wanted)',
        'deployment["uri"], None, {**wanted, "Authorization": "Bearer " + self.state["token"]})',
      ],
    ],
  },
  {
    description: 'writes the ID of its deployment as a UUID parser prints it',
    duty: 'report.own-deployment',
    scene: 'legal-variations',
    replaced: [['str(offer["id"])', 'str(__import__("uuid").UUID(offer["id"]))']],
  },
  {
    description: 'goes on after a 409',
    duty: 'report.stops-at-409',
    scene: 'abort',
    replaced: [['in (404, 409): raise Ended', 'in (404,): raise Ended']],
  },
  {
    description: 'sends its inventory only after an update',
    duty: 'inventory.on-acceptance',
    scene: 'inventory',
    replaced: [
      [
        '!= self.state["installed"]: self.send',
        '!= self.state["installed"] != "initial": self.send',
      ],
    ],
  },
];

/** Returns the source of the example with the violation. Throws if the example has no such text. */
export function defectiveSource({ description, replaced }: Violation): string {
  return replaced.reduce(
    (source, [from, to]) => {
      if (!source.includes(from))
        throw new Error(`the example cannot be one that ${description}: ${from}`);
      return source.replace(from, () => to);
    },
    readFileSync(exampleSource('client.py'), 'utf8'),
  );
}
