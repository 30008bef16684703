/**
 * The lines by which a script shows each response and decides whether the failure is there again:
 * by the status, if the case expects another one, otherwise by what is the same in each run.
 */
import { shellQuoted } from '../../fixtures/formats/shell-word.ts';
import type { CaseVerdict } from '../result/result.ts';
import type { TargetExchange } from '../target/exchange.ts';
import type { ScriptExchange } from './values.ts';

/** The facts of a failed case that its script repeats. */
export type FailedCase = Pick<CaseVerdict, 'id' | 'title' | 'expected' | 'actual' | 'violations'>;

/** Bytes of a body that are printed, and characters of it that are recorded for comparison. */
const SHOWN_MAX_BYTES = 2000;

/**
 * Functions of every script. `show STEP` prints a response and sets `status`; a body that is not
 * text is printed as its size. `facts FILE` prints what of a response is the same in each run.
 */
const functions = String.raw`set -u
command -v openssl > /dev/null && command -v curl > /dev/null || { echo 'this script needs curl and openssl' >&2; exit 2; }
files=$(mktemp -d) && cd "$files" || exit 2
trap 'rm -rf "$files"' EXIT
status=0 result=0 differs=
need() { [ -n "$2" ] || { echo "set $1: $3" >&2; exit 2; }; }
head_of() { LC_ALL=C awk '{ print } /^HTTP\// { s = $2 } /^\r?$/ && s != 100 { exit }' "$1"; }
plain() {
  local size; size=$(head_of "$1" | wc -c)
  head_of "$1"
  if [ "$(tail -c "+$((size + 1))" "$1" | LC_ALL=C tr -d '\11\12\15\40-\176\200-\377' | wc -c)" -eq 0 ]
  then tail -c "+$((size + 1))" "$1" | head -c ${SHOWN_MAX_BYTES}
  else echo "<$(($(wc -c < "$1") - size)) bytes, not text>"
  fi
}
show() {
  status=$(head_of "response-$1" | awk '/^HTTP\// { s = $2 } END { print s + 0 }')
  plain "response-$1"; echo
}
same() { [ "$status" = "$2" ] || differs="$differs step $1 was answered with $status instead of $2;"; }
facts() {
  plain "$1" | LC_ALL=C tr -d '\r\200-\377' | awk '
    in_body { print; next }
    /^HTTP\// { s = $2; next }
    /^$/ { if (s != 100) { in_body = 1; print s }; next }
    tolower($1) ~ /^(allow|content-type|content-range|deprecation|link|location|sunset|www-authenticate|.*total-count):$/ { $1 = tolower($1); print }' |
    sed -E -e 's/[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/ID/g' \
      -e 's/<masked[^>]*>|eyJ[A-Za-z0-9_.-]+/SECRET/g' -e 's/-----BEGIN [^"]*/KEY/g' \
      -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)/TIME/g' \
      -e 's/[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT/TIME/g' \
      -e 's/([?&][A-Za-z0-9_-]+=)[^&" >]{8,}/\1VALUE/g' | head -c 1000
}`;

/** The exit codes of a script, which it also says in its own words. */
const codes = '# Exit code: 1 the failure is there again, 0 it is not, 2 the script cannot decide.';

/** Returns the first lines of a script: what it repeats, and the functions that its steps use. */
export function openingLines(failed: FailedCase | undefined): readonly string[] {
  const facts =
    failed?.expected === undefined
      ? []
      : [
          `# ${comment(`${failed.id}: ${failed.title}`)}`,
          `# expected  ${comment(failed.expected)}`,
          `# actual    ${comment(failed.actual ?? '')}`,
        ];
  return ['#!/usr/bin/env bash', ...facts, codes, ...functions.split('\n')];
}

/** Keeps a text of the target on one line of a comment. */
function comment(text: string): string {
  return text.replace(/[^\P{C}]|[\u2028\u2029]|\s+/gu, ' ');
}

/** Returns the index of the judged step. */
export function judgedStep(
  steps: readonly ScriptExchange[],
  failed: FailedCase | undefined,
): number {
  const violating = failed?.violations?.[0]?.exchange.request;
  const isViolating = ({ request }: ScriptExchange): boolean =>
    request.line === violating?.line && request.body === violating.body;
  const ofViolation = failed?.actual?.startsWith('passive check: ')
    ? steps.findLastIndex(isViolating)
    : -1;
  if (ofViolation >= 0) return ofViolation;
  const status = expectedStatuses(failed) && Number.parseInt(failed?.actual ?? '', 10);
  const ofStatus = steps.findLastIndex(({ response }) => response?.status === status);
  return ofStatus >= 0 ? ofStatus : steps.length - 1;
}

/** Returns the statuses that the case expects; undefined when it expects something else. */
function expectedStatuses(failed: FailedCase | undefined): readonly string[] | undefined {
  const [, statuses] =
    /^status (\d{3}(?: or \d{3})*)(?= for |$)/.exec(failed?.expected ?? '') ?? [];
  return statuses?.split(' or ');
}

interface ShownStep {
  /** Number of the step, from 1. */
  readonly step: number;
  /** The recorded response, with masked secrets. */
  readonly response: TargetExchange['response'];
  /** Present for the judged step of a failed case. */
  readonly failed: FailedCase | undefined;
  /** False for a step after the judged one, whose response decides nothing. */
  readonly isCompared: boolean;
}

/**
 * Returns the lines after a request: they print the response, and judge it or compare its status.
 */
export function shownLines({ step, response, failed, isCompared }: ShownStep): readonly string[] {
  const show = `show ${step}`;
  if (!isCompared) return [show];
  if (failed?.expected === undefined) return [show, `same ${step} ${response?.status ?? 0}`];
  const statuses = expectedStatuses(failed);
  if (statuses) {
    return [
      show,
      `case ' ${statuses.join(' ')} ' in *" $status "*) result=0 differs= ;; *) result=1 ;; esac`,
      `echo "expected status ${statuses.join(' or ')}, actual status $status"`,
    ];
  }
  if (response === undefined || response.status === 101) {
    return [
      show,
      `differs=' curl cannot show the failure; run it by: npx fleetbed conform ${failed.id}'`,
    ];
  }
  return [
    show,
    `echo ${shellQuoted(`expected ${failed.expected}`)}`,
    failedResponseLine(response),
    `[ "$(facts failed)" = "$(facts response-${step})" ] && result=1`,
  ];
}

/**
 * Returns the line that writes the recorded response to the file `failed`: as one quoted word,
 * since the target decides what is in it. A body that is not text is replaced by its size.
 */
function failedResponseLine({
  status,
  headers,
  body = '',
}: NonNullable<TargetExchange['response']>): string {
  const isText = /^[\P{Cc}\t\r\n]*$/u.test(body);
  const bodyText = isText ? body : `<${Buffer.byteLength(body)} bytes, not text>`;
  const lines = [
    `HTTP/1.1 ${status}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    bodyText.slice(0, SHOWN_MAX_BYTES),
  ];
  // `facts` omits characters beyond ASCII too.
  const text = lines.join('\n').replace(/[^\n\t\x20-\x7e]/g, '');
  return `printf %s ${shellQuoted(text)} > failed`;
}

/** Returns the last lines: the decision in words, and the exit code. */
export const closingLines: readonly string[] = [
  'echo',
  'if [ -n "$differs" ]; then echo "cannot decide:$differs"; exit 2; fi',
  'if [ "$result" = 1 ]; then echo "reproduced"; else echo "not reproduced"; fi',
  'exit "$result"',
];
