/** How the text and the JUnit report name repro scripts, and shorten what nobody reads there. */
import { shellWord } from '../../fixtures/formats/shell-word.ts';

/** The files of repro scripts, by case ID. */
export type ScriptFiles = ReadonlyMap<string, string>;

/**
 * A PEM block or a Base64 text, both longer than any digest in hexadecimal digits. The search for the
 * end of a block ends at the next block, so that many unended ones take linear time.
 */
const encodedText =
  /-----BEGIN ([A-Z ]+)-----(?:(?!-----BEGIN )[^"])*?-----END \1-----(?:\\n)?|[\w+/-]{65,}={0,2}/g;

/** Returns the command that runs a script. */
export function scriptCommand(file: string): string {
  return `bash ${shellWord(file)}`;
}

/** Replaces keys, signatures and files in a text by their kind and length. */
export function withoutBase64(text: string): string {
  return text.replace(encodedText, (whole, label: string | undefined) =>
    label === undefined ? `<Base64, ${whole.length} characters>` : `<${label}>`,
  );
}
