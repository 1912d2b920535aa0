import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { bool, entity, longText, text } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { findProjectSubject } from '../../projects/projects/queries.ts'
import { renderPlain, renderText } from './service.ts'

const RenderedEntity = entity({ html: z.string() }).meta({ id: 'RenderedMarkdown' })

/** For signed-in users. Anonymous callers get 401, as everywhere in planning. */
export const render = endpoint({
  method: 'POST',
  path: '/markdown',
  summary: 'Render a Markdown text',
  allow: 'signed_in',
  readsOnly: true,
  input: z.object({
    text: longText,
    gfm: bool.nullish(),
    /** The full path. */
    project: text.nullish(),
  }),
  output: RenderedEntity,
  async handle({ app, viewer, input }) {
    const isPath = input.project?.includes('/')
    const subject = input.project && isPath ? await findProjectSubject(app, input.project, viewer) : null
    if (input.project && !(subject && projectPolicy.read(subject))) throw notFound('Project')
    const html = input.gfm
      ? await renderText(app, viewer, subject, input.text)
      : await renderPlain(app, subject, input.text)
    return { html }
  },
})
