import type { App, User } from '../../../context.ts'
import { Html } from '../../../lib/html.ts'
import { renderMarkdown } from '../../../lib/markdown/markdown.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { isOpenToNewcomers } from '../../instance/settings/sign-up.ts'
import type { Page } from '../page.ts'
import { signInPage, type SignInPage } from './pages.ts'

export const drawn = async (text: string | null) => (text ? new Html(await renderMarkdown(text)) : null)

/** With what the instance says to whoever signs in, and the way to an account where that is open. */
export async function signInPageOf(app: App, page: SignInPage): Promise<Page> {
  const settings = await currentSettings(app)
  return signInPage({ ...page, words: await drawn(settings.sign_in_text), isOpen: isOpenToNewcomers(settings) })
}

/** What it says to whoever has an account from now on; null for those who signed in before. */
export async function signUpText(app: App, user: User): Promise<Html | null> {
  const isNew = user.current_sign_in_at === null
  return isNew ? drawn((await currentSettings(app)).after_sign_up_text) : null
}
