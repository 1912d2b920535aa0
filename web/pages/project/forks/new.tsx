/** Forks a project. */
import type { Records } from '../../../api.ts'
import { Button, Choice, Field, Form } from '../../../components/Form.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/projects.ts'

interface Data {
  namespaces: Records['Namespace'][]
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: ({ api }) => ({ namespaces: api.get('/namespaces', { per_page: 100 }) }),
  title: () => t.fork,
  actions: {
    async fork({ api, params, form }) {
      const made = await api.post('/projects/{id}/fork', {
        id: params.id!,
        namespace_path: text(form, 'namespace'),
        name: text(form, 'name') || null,
        path: text(form, 'path') || null,
      })
      const isCopied = made.import_status === 'finished'
      return `/${made.path_with_namespace}${isCopied ? '' : '/-/import'}`
    },
  },
  View: ({ project, namespaces, me }) => {
    return (
      <>
        <h1>{t.forkName(project.name)}</h1>
        <p class="quiet">{t.aForkIsCopy}</p>
        <Form action="fork" class="add-form">
          <Choice
            name="namespace"
            label={t.namespace}
            options={namespaces.map(({ full_path }) => [full_path, full_path] as const)}
            value={me?.username}
          />
          <Field name="name" label={common.name} value={project.name} required />
          <Field name="path" label={common.urlSlug} value={project.path} required />
          <div class="row">
            <Button kind="main">{t.forkProject}</Button>
            <a href={`/${project.path_with_namespace}`}>{common.cancel}</a>
          </div>
        </Form>
      </>
    )
  },
})
