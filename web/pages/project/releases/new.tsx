/** A new release, of an existing tag or a new one. */
import { Button, Field, Form } from '../../../components/Form.tsx'
import { loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { encodePath } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

interface Data {
  refs: Refs
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: ({ api, params }) => ({ refs: loadRefs(api, params.id!) }),
  title: () => t.newRelease,
  actions: {
    async create({ api, params, form }) {
      const made = await api.post('/projects/{id}/releases', {
        id: params.id!,
        tag_name: text(form, 'tag_name'),
        ref: text(form, 'ref') || null,
        name: text(form, 'name') || null,
        description: text(form, 'description') || null,
      })
      return `/${params.id}/-/releases/${encodePath(made.tag_name)}`
    },
  },
  View: ({ project, refs, query }) => {
    return (
      <>
        <h1>{t.newRelease}</h1>
        <Form action="create" class="add-form">
          <Field name="tag_name" label={common.tag} required value={query.get('tag')} placeholder="v1.0" />
          <p class="quiet">
            {t.existingTagsEnterNewName(refs.tags.length === 0 ? t.none : refs.tags.map(({ name }) => name).join(', '))}
          </p>
          <Field name="ref" label={t.createFrom} value={project.default_branch} hint={t.branchTagOrCommitForNew} />
          <Field name="name" label={common.title} />
          <WritingArea name="description" label={t.releaseNotes} lines={10} />
          <div class="row">
            <Button kind="main">{t.createRelease}</Button>
            <a href={below(project, 'releases')}>{common.cancel}</a>
          </div>
        </Form>
      </>
    )
  },
})
