/** Checks what a test passes to the embedded server, by the shapes of the control API. */
import * as v from 'valibot';
import { placedSentence } from '../../../fixtures/base/shape-sentences.ts';

/**
 * Returns the input of a call in its checked form.
 * @param call the called method, such as `journal.await`, for the message
 * @throws TypeError for an unknown name, and RangeError for a wrong value; both name the nearest
 * names or the accepted values
 */
export function checkedInput<const Shape extends v.GenericSchema>(
  call: string,
  shape: Shape,
  input: unknown,
): v.InferOutput<Shape> {
  const parseResult = v.safeParse(shape, input);
  if (parseResult.success) return parseResult.output;
  const unknownIssue = parseResult.issues.find(({ expected }) => expected === 'never');
  const issue = unknownIssue ?? parseResult.issues[0];
  const { path, sentence: what } = placedSentence(issue, shape);
  const sentence = [call, ...(path.length > 0 ? [path.join('.')] : []), what].join(': ');
  throw unknownIssue ? new TypeError(sentence) : new RangeError(sentence);
}
