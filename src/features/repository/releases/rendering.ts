import type { App } from '../../../context.ts'
import { referencesIn, renderMarkdown, resolutionsOf } from '../../../lib/markdown/markdown.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import type { ReleaseRecord } from './entity.ts'

/** Adds the descriptions as HTML. */
export async function withHtml(
  app: App,
  subject: RepositorySubject,
  releases: readonly ReleaseRecord[],
): Promise<ReleaseRecord[]> {
  const tracker = await app.findTracker(app, subject.project)
  const linkBases = { project: webUrlOf(app, subject) }
  const texts = releases.map(({ description }) => description ?? '')
  const named = await Promise.all(texts.map((text) => referencesIn(text, app.url, app.caller)))
  const resolutions = await app.resolveReferences(app, subject.viewer, subject.project, named.flat())
  const around = { base: app.url, caller: app.caller, tracker, linkBases }
  const render = (text: string, n: number) =>
    renderMarkdown(text, { ...around, resolutions: resolutionsOf(named[n]!, resolutions) })
  const html = await Promise.all(texts.map(render))
  return releases.map((release, n) => ({ ...release, description_html: html[n]! }))
}
