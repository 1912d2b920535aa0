import type { App, User } from '../../../context.ts'
import { Html } from '../../../lib/text/html.ts'
import { renderMarkdown } from '../../../lib/markdown/markdown.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { isOpenToNewcomers } from '../../instance/settings/sign-up.ts'
import type { Page } from '../page.ts'
import { signInPage, type SignInPage } from './pages.ts'

export const drawn = async (text: string | null) => (text ? new Html(await renderMarkdown(text)) : null)

/** With the sign-in text of the instance, and a link to register if registration is open. */
export async function signInPageOf(app: App, page: SignInPage): Promise<Page> {
  const settings = await currentSettings(app)
  return signInPage({ ...page, words: await drawn(settings.sign_in_text), isOpen: isOpenToNewcomers(settings) })
}

/** The text of the instance for new users; null for users who have signed in before. */
export async function signUpText(app: App, user: User): Promise<Html | null> {
  const isNew = user.current_sign_in_at === null
  return isNew ? drawn((await currentSettings(app)).after_sign_up_text) : null
}
