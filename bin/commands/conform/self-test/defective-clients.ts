/** `fleetbed conform self-test --clients`: the client judge meets defective clients. */
import { defectiveClients } from '../../../../conformance/client-judge/self-test/defective-clients.ts';
import {
  type AlteredClients,
  alteredClients,
  type ClientSelfTest,
  selfTestOfClients,
} from '../../../../conformance/client-judge/self-test/self-test.ts';
import { countText } from '../../../../fixtures/base/count-text.ts';
import { type ExitCode, exitCodes } from '../../../output/exit-codes.ts';
import type { Output } from '../../../output/output.ts';

/** The least share of random alterations that the judge must kill, by default. */
const FLOOR = 0.9;

/** The defective clients to run, and the share that must be killed. */
interface DefectiveClientSelection {
  /** Prefixes of the IDs of duties; every defective client if empty. */
  readonly prefixes: readonly string[];
  /** Number of random alterations, in place of the defective clients. */
  readonly fuzz?: number | undefined;
  readonly seed: string;
  readonly floor?: number | undefined;
}

/** Runs the self-test and prints its result. */
export function testWithDefectiveClients(
  { prefixes, fuzz, seed, floor = FLOOR }: DefectiveClientSelection,
  output: Output,
): ExitCode {
  if (fuzz !== undefined) {
    const result = alteredClients(fuzz, seed);
    output.data(result);
    for (const line of alteredLines(result)) output.line(line);
    const isSound = result.killed >= floor * result.altered && result.falseFailures.length === 0;
    return isSound ? exitCodes.pass : exitCodes.failed;
  }
  const selectedClients = defectiveClients.filter(
    ({ duty }) => prefixes.length === 0 || prefixes.some((each) => duty.startsWith(each)),
  );
  if (selectedClients.length === 0) {
    output.line(`No defective client breaks a duty that begins with ${prefixes.join(' or ')}.`);
    return exitCodes.usage;
  }
  const result = selfTestOfClients(selectedClients);
  output.data(result);
  for (const line of resultLines(result)) output.line(line);
  const isSound = result.rows.every((row) => row.isKilled && row.falseViolations.length === 0);
  return isSound && result.falseOnGood.length === 0 ? exitCodes.pass : exitCodes.failed;
}

function resultLines({ falseOnGood, rows, untestedDuties }: ClientSelfTest): readonly string[] {
  const killed = rows.filter(({ isKilled }) => isKilled).length;
  const falseViolations = rows.reduce((sum, row) => sum + row.falseViolations.length, 0);
  return [
    ...rows.map(({ id, does, isKilled, falseViolations }) => {
      const more =
        falseViolations.length === 0 ? '' : `; false violations: ${falseViolations.join(', ')}`;
      const isSound = isKilled && falseViolations.length === 0;
      return `${isSound ? ' ' : '!'} ${isKilled ? 'killed' : 'survived'} ${id}: a client that ${does}${more}`;
    }),
    ...falseOnGood.map((id) => `! false failure of the good client: ${id}`),
    '',
    `${countText(rows.length, 'defective client')}: ${killed} killed, ${falseViolations} false violations.`,
    `${countText(untestedDuties.length, 'duty')} that no client here breaks: ${untestedDuties.join(', ')}.`,
  ];
}

function alteredLines(result: AlteredClients): readonly string[] {
  const { altered, killed, survived, conforming, falseFailures } = result;
  const share = ((100 * killed) / altered).toFixed(1);
  const alive = Object.entries(survived).map(
    ([description, survivors]) => `${description} (${survivors.join(', ')})`,
  );
  const survivorsText = alive.length === 0 ? '' : ` Survived: ${alive.join('; ')}.`;
  return [
    ...falseFailures.map((each) => `! false failure: ${each}`),
    `${killed} of ${altered} random alterations of a good client killed, ${share} %.${survivorsText}`,
    `${countText(conforming, 'further alteration')} broke no duty: ${countText(falseFailures.length, 'false failure')}.`,
  ];
}
