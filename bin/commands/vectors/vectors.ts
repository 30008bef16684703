/** `fleetbed vectors`: test vectors for firmware that has no network yet. */
import type { Command } from 'commander';
import { groupRows, type UngroupedRows, type ValuesOf } from '../../../fixtures/base/option-row.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { writeWholeFolder } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';
import { vectorsFrom } from './content.ts';
import { vectorFormats } from './formats.ts';

const rows = groupRows('Options', {
  seed: {
    flag: '--seed <text>',
    help: 'seed; the same seed gives the same bytes',
    cli: { kind: 'text' },
    default: { value: 'fleetbed' },
  },
  out: {
    flag: '--out <folder>',
    help: 'folder to create; removed again if writing fails',
    cli: { kind: 'text' },
    default: { value: 'vectors' },
  },
  format: {
    flag: '--format <format>',
    help: 'format of the file with all vectors',
    cli: { kind: 'choices', values: ['json', 'c', 'python'] },
    default: { value: 'json' },
  },
} as const satisfies UngroupedRows);

const codes = exitCodeHelp({
  pass: 'written',
  setUp: 'the folder is not empty, or cannot be written',
});

const help = `
The folder has one file with all vectors, vectors.json, fleetbed_vectors.h (C99, needs no library)
or fleetbed_vectors.py, and keys, bodies, signatures and artifacts as files of their own:
  keys             private and public key of each type
  authRequests     bodies of POST /auth_requests with the right signature header
  wrongSignatures  signature headers that a server must refuse, with the cause
  tokens           the token as the server sends it, and right and wrong Authorization headers
  instructions     bodies of deployments/next in both versions, also wrong ones
  messages         frames on /connect, also wrong ones
  artifacts        small .mender files, also damaged ones; manifest: the digests in the right one

In JSON, bytes are in hexadecimal in fields whose names end in Hex. The keys are not secret: use
them for tests only.
${codes}`;

/** Adds the options and the action of `fleetbed vectors`. */
export function configure(command: Command): void {
  addOptionRows(command, rows)
    .addHelpText('after', help)
    .action(async ({ seed, out, format }: ValuesOf<typeof rows>) => {
      const { fileName, textOf } = vectorFormats[format];
      const set = await vectorsFrom(seed);
      const text = Buffer.from(textOf(set));
      await writeWholeFolder('--out', out, new Map([[fileName, text], ...set.files]));
      createOutput(false).line(
        `Wrote ${set.files.size + 1} files to ${out}; all are in ${fileName}.`,
      );
      process.exitCode = exitCodes.pass;
    });
  addExamples(
    command,
    'fleetbed vectors',
    'fleetbed vectors --format c --out firmware/test/vectors',
    'fleetbed vectors --seed release-7 --format python --out vectors',
  );
}
