/** A new wiki page. */
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { WikiForm } from './Parts.tsx'
import * as t from '../../../texts/wikis.ts'

export const page = declare<object, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: () => ({}),
  title: () => t.newPage,
  actions: {
    async create({ api, params, form }) {
      const page = { title: text(form, 'title'), content: text(form, 'content') }
      const made = await api.post('/projects/{id}/wikis', { id: params.id!, ...page })
      return `/${params.id}/-/wikis/${made.slug.split('/').map(encodeURIComponent).join('/')}`
    },
  },
  View: () => (
    <>
      <h1>{t.newPage}</h1>
      <WikiForm action="create" title="" content="" />
    </>
  ),
})
