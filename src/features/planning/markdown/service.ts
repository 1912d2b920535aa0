import type { App, User } from '../../../context.ts'
import { oncePerPage } from '../../../lib/async/page-reads.ts'
import { referencesIn, renderMarkdown, resolutionsOf, type LinkBases } from '../../../lib/markdown/markdown.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { resolveReferences } from './references.ts'

/** Renders a text of this project, or of none, for the viewer: references the viewer may see become links. */
export async function renderText(
  app: App,
  viewer: User | null,
  subject: ProjectSubject | null,
  text: string,
): Promise<string> {
  const [html] = await renderTexts(app, viewer, subject, [text])
  return html!
}

/** Renders several texts, and resolves their references together. */
export async function renderTexts(
  app: App,
  viewer: User | null,
  subject: ProjectSubject | null,
  texts: readonly string[],
): Promise<string[]> {
  const found = await Promise.all(texts.map((text) => referencesIn(text, app.url, app.caller)))
  const resolutions = await resolveReferences(app, viewer, subject, found.flat())
  const trackerOf = ({ project }: ProjectSubject) =>
    oncePerPage(app, `tracker of ${project.id}`, () => app.findTracker(app, project))
  const tracker = subject && (await trackerOf(subject))
  const around = { base: app.url, caller: app.caller, tracker, linkBases: linkBasesOf(app, subject) }
  return Promise.all(
    texts.map((text, n) => renderMarkdown(text, { ...around, resolutions: resolutionsOf(found[n]!, resolutions) })),
  )
}

/** The same, without resolving references. */
export const renderPlain = (app: App, subject: ProjectSubject | null, text: string): Promise<string> =>
  renderMarkdown(text, { base: app.url, caller: app.caller, linkBases: linkBasesOf(app, subject) })

const linkBasesOf = (app: App, subject: ProjectSubject | null): LinkBases =>
  subject ? { project: webUrlOf(app, subject) } : {}
