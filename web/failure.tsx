/** The error page: what happened, and what to do next. */
import { page, type Page } from './page.ts'
import * as t from './texts/shell.ts'

interface Advice {
  readonly title: string
  readonly text: string
}

const ADVICE: Record<number, Advice> = {
  400: { title: t.unknownForm, text: t.goBackReloadPage },
  403: { title: t.accessDenied, text: t.askOwnerOrMaintainer },
  404: {
    title: t.pageNotFound,
    text: t.theUrlMayBeWrong,
  },
  429: {
    title: t.tooManyRequests,
    text: t.waitMomentThenReloadPage,
  },
  503: { title: t.theServerIsBusy, text: t.reloadPageInMoment },
}

const CROWDED: Advice = {
  title: t.tooManyIpAddresses,
  text: t.yourAccountIsInUse,
}

const OTHER: Advice = {
  title: t.somethingWentWrong,
  text: t.anErrorOccurredOnServer,
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
          {status === 429 && !me && t.signedInUsersHaveHigherLimit}
        </p>
        <p class="row">
          <a class="button" href="/">
            {t.goHome}
          </a>
          {!me && (
            <a class="button" href={`/users/sign_in?return_to=${encodeURIComponent(address)}`}>
              {t.signIn}
            </a>
          )}
        </p>
      </section>
    ),
  })
}
