/** Reads the output of a conformance run: JSON lines mixed with lines of text. */

/** The result of one case. */
export interface CaseVerdict {
  readonly id: string;
  readonly title: string;
  readonly level: string;
  readonly verdict: string;
  readonly requirements: readonly string[];
  readonly reason: string;
}

/** The last JSON line of a complete run. */
interface RunSummaryLine {
  readonly outcome: string;
  readonly musts: {
    readonly decided: number;
    readonly undecided: number;
    readonly undecidedMusts: readonly { readonly id: string }[];
  };
}

/** The output of a conformance run so far. */
export interface RunOutput {
  /** Number of cases in the run; 0 before it starts. */
  readonly total: number;
  readonly verdicts: readonly CaseVerdict[];
  readonly end: RunSummaryLine | undefined;
  /** Lines that are not JSON. */
  readonly texts: readonly string[];
}

type OutputLine = Readonly<Record<string, unknown>> & { readonly type?: string };

/** Parses the output lines of a run. */
export function readRun(lines: readonly string[]): RunOutput {
  const verdicts: CaseVerdict[] = [];
  const texts: string[] = [];
  let total = 0;
  let end: RunSummaryLine | undefined;
  for (const line of lines) {
    const message = jsonIn(line);
    if (message?.type === 'start') total = Array.isArray(message.ids) ? message.ids.length : 0;
    else if (message?.type === 'verdict') verdicts.push(verdictIn(message));
    else if (message?.type === 'end') end = message as unknown as RunSummaryLine;
    else texts.push(line);
  }
  return { total, verdicts, end, texts };
}

function jsonIn(line: string): OutputLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function verdictIn({ id, title, level, verdict, requirements, reason, message }: OutputLine) {
  return {
    id: String(id),
    title: String(title),
    level: String(level),
    verdict: String(verdict),
    requirements: Array.isArray(requirements) ? requirements.map(String) : [],
    reason: String((reason as { readonly text?: unknown } | undefined)?.text ?? message ?? ''),
  };
}
