import type { App, User } from '../../../context.ts'
import { Html } from '../../../lib/html.ts'
import { renderMarkdown } from '../../../lib/markdown/markdown.ts'
import { currentSettings } from '../../instance/settings/queries.ts'

const drawn = async (text: string | null) => (text ? new Html(await renderMarkdown(text)) : null)

/** What the instance says to whoever signs in. */
export const signInWords = async (app: App): Promise<Html | null> => drawn((await currentSettings(app)).sign_in_text)

/** What it says to whoever has an account from now on; null for those who signed in before. */
export async function signUpWords(app: App, user: User): Promise<Html | null> {
  const isNew = user.current_sign_in_at === null
  return isNew ? drawn((await currentSettings(app)).after_sign_up_text) : null
}
