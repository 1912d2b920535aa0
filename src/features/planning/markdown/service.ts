import type { App, User } from '../../../context.ts'
import { referencesIn, renderMarkdown, type Places } from '../../../lib/markdown/markdown.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { resolveReferences } from './references.ts'

/** A text of this project, or of none, as the viewer reads it: what they may see of what it names becomes links. */
export async function renderText(
  app: App,
  viewer: User | null,
  subject: ProjectSubject | null,
  text: string,
): Promise<string> {
  const found = await referencesIn(text, app.url)
  const resolutions = await resolveReferences(app, viewer, subject, found)
  return renderMarkdown(text, { base: app.url, resolutions, places: placesOf(app, subject) })
}

/** The same, with nothing looked up. */
export const renderPlain = (app: App, subject: ProjectSubject | null, text: string): Promise<string> =>
  renderMarkdown(text, { base: app.url, places: placesOf(app, subject) })

const placesOf = (app: App, subject: ProjectSubject | null): Places =>
  subject ? { project: webUrlOf(app, subject) } : {}
