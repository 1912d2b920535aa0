/** The error page: what happened, and what to do next. */
import { page, type Page } from './page.ts'

interface Advice {
  readonly title: string
  readonly text: string
}

const ADVICE: Record<number, Advice> = {
  400: { title: 'Unknown form', text: 'Go back, reload the page and try again.' },
  403: { title: 'Access denied', text: 'Ask an owner or a maintainer for a higher role.' },
  404: {
    title: 'Page not found',
    text: 'The URL may be wrong, the page may have been moved or deleted, or you may not have permission to view the page.',
  },
  429: {
    title: 'Too many requests',
    text: 'Wait a moment, then reload the page.',
  },
  503: { title: 'The server is busy', text: 'Reload the page in a moment.' },
}

const CROWDED: Advice = {
  title: 'Too many IP addresses',
  text: 'Your account is in use from too many IP addresses. Try again later, or use one of the other addresses.',
}

const OTHER: Advice = {
  title: 'Something went wrong',
  text: 'An error occurred on the server. Reload the page. If the error persists, contact your administrator.',
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
          {status === 429 && !me && ' Signed-in users have a higher limit.'}
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
