/** An explanation for people to read. */
import type { Explanation } from './explain.ts';

/** Lines of text, the command last, each line of it indented by nothing so that it can be copied. */
export function explanationText(explanation: Explanation): string {
  const { requestId, at, world, asked, status, sentence, rule, wrong } = explanation;
  const { diagnosis, first, correctedRequest: request, command, needs } = explanation;
  const ids = rule.requirements.length === 0 ? '' : ` [${rule.requirements.join(', ')}]`;
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['request', `${requestId} at ${at} in ${world}`],
    ['asked', `${asked.method} ${asked.path}`],
    ['operation', asked.operation && `${asked.operation} (${asked.heading})`],
    ['answered', `${status}: ${sentence}`],
    ['rule', `${rule.heading}: ${rule.sentence}${ids}`],
    ['wrong', wrong.path],
    ['  expected', wrong.expected],
    ['  actual', wrong.actual],
    ['mistake', diagnosis && `${diagnosis.mistake}: ${diagnosis.sentence}`],
    ['  detail', diagnosis?.detail],
    ['  remedy', diagnosis?.remedy],
    ['first', first],
    ['corrected', `${request.method} ${request.path}`],
    ...Object.entries(request.headers).map(([name, value]) => ['', `${name}: ${value}`] as const),
    ['  body', request.body],
    ...Object.entries(needs).map(
      ([name, meaning], index) => [index === 0 ? 'set' : '', `${name}: ${meaning}`] as const,
    ),
  ];
  const told = lines.filter(([, value]) => value !== undefined);
  const rows = told.map(([name, value]) => `${name.padEnd(LABEL_CHARACTERS)}${value}`);
  return `${rows.join('\n')}\ncommand\n${command}\n`;
}

const LABEL_CHARACTERS = 12;
