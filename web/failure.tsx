/** What is shown where a page cannot be: what happened, and what to do next. */
import { page, type Page } from './page.ts'

interface Advice {
  readonly title: string
  readonly text: string
}

const ADVICE: Record<number, Advice> = {
  400: { title: 'That form is not known', text: 'Go back, reload the page and try again.' },
  403: { title: 'You may not do this', text: 'Ask an owner or a maintainer of the place to give you a higher role.' },
  404: {
    title: 'Nothing is here for you',
    text: 'The address may be wrong, the page may have moved or gone, or it may be hidden from you.',
  },
  429: {
    title: 'Too many requests',
    text: 'Wait a while, then load the page again.',
  },
  503: { title: 'The server is busy', text: 'Load the page again in a moment.' },
}

const CROWDED: Advice = {
  title: 'Too many addresses',
  text: 'Your account is used from too many IP addresses. Try again later, or from one of the others.',
}

const OTHER: Advice = {
  title: 'Something went wrong',
  text: 'It is not your fault. Load the page again; if it stays, tell your administrator.',
}

export function failurePage(status: number, isCrowded = false): Page {
  const { title, text } = isCrowded ? CROWDED : (ADVICE[status] ?? OTHER)
  return page({
    load: () => ({}),
    title: () => title,
    View: ({ me, address }) => (
      <section class="failure">
        <p class="failure-code">{status}</p>
        <h1>{title}</h1>
        <p>
          {text}
          {status === 429 && !me && ' Those who are signed in may ask for more.'}
        </p>
        <p class="row">
          <a class="button" href="/">
            Go home
          </a>
          {!me && (
            <a class="button" href={`/users/sign_in?return_to=${encodeURIComponent(address)}`}>
              Sign in
            </a>
          )}
        </p>
      </section>
    ),
  })
}
