/**
 * The result of a run for a CI server: a summary in Markdown for the page of a job, and
 * annotations in the format of GitHub's workflow commands.
 */
import { countText } from '../../fixtures/base/count-text.ts';
import { printable } from '../../fixtures/base/printable.ts';

/** The outcome of a run in the format that CI servers show. */
export interface CiSummary {
  /** Title of the run, such as `Conformance of http://127.0.0.1:8080`. */
  readonly title: string;
  /** One sentence with the verdict. */
  readonly headline: string;
  /** Numbers of checks by their result, such as `pass`. */
  readonly counts: Readonly<Record<string, number>>;
  /** Everything that failed, and what could not be decided, worst first. */
  readonly findings: readonly CiFinding[];
}

export interface CiFinding {
  /** `error` fails the run; `warning` does not. */
  readonly level: 'error' | 'warning';
  /** ID of the check, such as that of a case. */
  readonly subject: string;
  readonly sentence: string;
  /** The command that repeats the check. */
  readonly repeat?: string | undefined;
}

/** GitHub shows no more annotations of each level for a step. */
const ANNOTATIONS_MAX = 10;
/** GitHub accepts at most 1 MiB for the summary of a step. */
const ROWS_MAX = 200;
const SENTENCE_MAX_CHARACTERS = 500;

/** Returns the two formats of a report that CI servers show, for results with a summary. */
export function ciFormats<Run>(summaryOf: (run: Run) => CiSummary) {
  return [
    { format: 'markdown', render: (run: Run) => ciMarkdown(summaryOf(run)) },
    { format: 'annotations', render: (run: Run) => ciAnnotations(summaryOf(run)) },
  ] as const;
}

/** Returns the summary as Markdown. Text from a server is shown as text, never as markup. */
function ciMarkdown({ title, headline, counts, findings }: CiSummary): string {
  const positiveCounts = Object.entries(counts).filter(([, count]) => count > 0);
  const rows = findings.slice(0, ROWS_MAX).map(({ level, subject, sentence, repeat }) => {
    const repeatText = repeat === undefined ? '' : codeOf(repeat);
    return `| ${level} | ${codeOf(subject)} | ${escapeMarks(sentence)} | ${repeatText} |`;
  });
  const more = findings.length - rows.length;
  return [
    `### ${escapeMarks(title)}`,
    '',
    `**${escapeMarks(headline)}**`,
    ...(positiveCounts.length === 0
      ? []
      : [
          '',
          lineOf(positiveCounts.map(([name]) => name)),
          lineOf(positiveCounts.map(() => '---')),
          lineOf(positiveCounts.map(([, count]) => String(count))),
        ]),
    ...(rows.length === 0
      ? []
      : [
          '',
          lineOf(['', 'check', 'what was seen', 'repeat']),
          lineOf(['---', '---', '---', '---']),
          ...rows,
        ]),
    ...(more > 0 ? ['', `${more} more in the report.`] : []),
    '',
  ].join('\n');
}

/** Returns the annotations: a line for each finding, the most serious first. */
function ciAnnotations({ title, findings }: CiSummary): string {
  const lines = (['error', 'warning'] as const).flatMap((level) => {
    const findingsOfLevel = findings.filter((finding) => finding.level === level);
    const fits = findingsOfLevel.length <= ANNOTATIONS_MAX;
    const annotations = findingsOfLevel.slice(0, fits ? ANNOTATIONS_MAX : ANNOTATIONS_MAX - 1);
    const moreText = countText(findingsOfLevel.length - annotations.length, `more ${level}`);
    return [
      ...annotations.map(({ subject, sentence }) => command(level, subject, sentence)),
      ...(fits ? [] : [command(level, title, `${moreText} in the report`)]),
    ];
  });
  return lines.map((line) => `${line}\n`).join('');
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Characters that mean something in Markdown or HTML, or name somebody. */
const marks = /[\\`*_[\]<>#|~&@]/g;

function escapeMarks(text: string): string {
  return oneLine(text).replace(marks, (mark) => `&#${mark.charCodeAt(0)};`);
}

function codeOf(text: string): string {
  return `<code>${escapeMarks(text)}</code>`;
}

/** Returns a workflow command, in which some characters are escaped. */
function command(level: CiFinding['level'], title: string, message: string): string {
  const property = escapePercent(title).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${level} title=${property}::${escapePercent(message)}`;
}

function escapePercent(text: string): string {
  return oneLine(text).replaceAll('%', '%25');
}

function oneLine(text: string): string {
  return printable(text.replaceAll('\n', '; '), SENTENCE_MAX_CHARACTERS);
}
