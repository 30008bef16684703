/** An explanation of a missing update for people to read. */
import type { NoUpdateExplanation } from './no-update.ts';

const LABEL_CHARACTERS = 12;

/** Lines of text: the rules in their order, then the device's newest deployments. */
export function noUpdateText(explanation: NoUpdateExplanation): string {
  const { requestId, at, world, device, outcome, steps, deployments } = explanation;
  const lines: readonly (readonly [string, string])[] = [
    ['request', `${requestId ?? 'the next one'} at ${at} in ${world}`],
    ['device', device.identity === undefined ? device.id : `${device.identity} (${device.id})`],
    ['outcome', requestId === undefined ? `would be ${outcome}` : outcome],
    ...steps.map(({ rule, passed, sentence }) => {
      return [passed ? '  passed' : 'stopped by', `${rule}: ${sentence}`] as const;
    }),
    ...deployments.map((told) => ['all', told] as const),
  ];
  return `${lines.map(([name, value]) => `${name.padEnd(LABEL_CHARACTERS)}${value}`).join('\n')}\n`;
}
