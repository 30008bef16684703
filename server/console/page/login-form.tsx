/** The form that asks for the control token. */
import { logIn, loginError } from './api/session.ts';

/** Renders the form, which is shown while there is no token or the token was refused. */
export function LoginForm() {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const typedToken = String(new FormData(event.currentTarget).get('token') ?? '').trim();
    if (typedToken !== '') logIn(typedToken);
  };
  return (
    <main id="main" tabIndex={-1} class="login">
      <form class="kit-card" onSubmit={submit}>
        <h1>Log in</h1>
        {loginError.value !== '' && (
          <p role="alert" class="error">
            {loginError.value}
          </p>
        )}
        <p>
          This page shows a running server. It asks for the control token, which{' '}
          <code>fleetbed serve</code> prints when it is ready.
        </p>
        <label class="kit-field">
          Control token
          <input name="token" type="password" autocomplete="off" spellcheck={false} required />
        </label>
        <button type="submit" class="kit-button" data-kind="main">
          Log in
        </button>
      </form>
    </main>
  );
}
