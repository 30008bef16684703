/** The explanation of the request in the address. */
import { readExplanation, requestAskedAbout, TokenRefused } from './connection.ts';
import { byId } from './element.ts';

const section = byId('explanation', HTMLElement);
const heading = byId('explanation-heading', HTMLHeadingElement);
const text = byId('explanation-text', HTMLPreElement);

byId('explanation-close', HTMLButtonElement).addEventListener('click', () => {
  history.replaceState(null, '', location.pathname);
  section.hidden = true;
});

/** Shows it, or nothing where the address has no request id. */
export async function showExplanation(token: string): Promise<void> {
  const requestId = requestAskedAbout();
  section.hidden = requestId === undefined;
  if (requestId === undefined) return;
  heading.textContent = `Request ${requestId}`;
  text.textContent = 'Loading…';
  const told = await readExplanation(token, requestId).catch((fault: unknown) => {
    // The page already asks for another token.
    if (fault instanceof TokenRefused) return '';
    return `The explanation cannot be read: ${fault instanceof Error ? fault.message : fault}`;
  });
  if (requestAskedAbout() !== requestId) return;
  text.textContent = told;
  heading.focus();
}
