/**
 * The page that a browser shows for a link in an email. Its form sends a POST to the same link.
 */
import { selfContainedPage } from '../../../fixtures/base/markup.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';

const style = `body { font: 1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem }
label, input, button { display: block; font: inherit; margin-top: .5rem }
input { width: 100%; box-sizing: border-box }`;

const script = `const form = document.querySelector('form');
const output = document.querySelector('output');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  output.textContent = '';
  const password = form.elements.namedItem('password');
  const json = password ? { body: JSON.stringify({ password: password.value }), headers: { 'Content-Type': 'application/json' } } : {};
  try {
    const response = await fetch(location.href, { method: 'POST', ...json });
    output.textContent = response.ok ? form.dataset.done : (await response.json()).error;
    if (response.ok) form.querySelector('button').disabled = true;
  } catch {
    output.textContent = 'The server does not respond.';
  }
});`;

interface FormParts {
  readonly title: string;
  readonly done: string;
  /** The fields of the form as HTML. */
  readonly fields: string;
}

function page({ title, done, fields }: FormParts): string {
  return selfContainedPage({
    title,
    style,
    script,
    callsOwnServer: true,
    body: `<main><h1>${title}</h1>
<form data-done="${done}">${fields}<button>${title}</button></form>
<p><output aria-live="polite"></output></p></main>`,
  });
}

/** The confirmation pages by the paths to which the links in messages lead. */
export const confirmationPages: ReadonlyMap<string, string> = new Map([
  [
    pathOf(managementOperations['complete-password-reset']),
    page({
      title: 'Set your password',
      done: 'Your password is set. You can log in now.',
      fields: `<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" required autofocus>`,
    }),
  ],
  [
    pathOf(managementOperations['complete-email-change']),
    page({
      title: 'Confirm your email address',
      done: 'Your new email address is confirmed.',
      fields: '',
    }),
  ],
]);
