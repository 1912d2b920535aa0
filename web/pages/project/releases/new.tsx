/** A new release, of an existing tag or a new one. */
import { Button, Field, Form } from '../../../components/Form.tsx'
import { loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { encodePath } from '../../../refs.ts'

interface Data {
  refs: Refs
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: ({ api, params }) => ({ refs: loadRefs(api, params.id!) }),
  title: () => 'New release',
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
        <h1>New release</h1>
        <Form action="create" class="add-form">
          <Field name="tag_name" label="Tag" required value={query.get('tag')} placeholder="v1.0" />
          <p class="quiet">
            Existing tags: {refs.tags.length === 0 ? 'none' : refs.tags.map(({ name }) => name).join(', ')}. Enter a new
            name to create a tag.
          </p>
          <Field
            name="ref"
            label="Create from"
            value={project.default_branch}
            hint="Branch, tag or commit, for a new tag"
          />
          <Field name="name" label="Title" />
          <WritingArea name="description" label="Release notes" lines={10} />
          <div class="row">
            <Button kind="main">Create release</Button>
            <a href={below(project, 'releases')}>Cancel</a>
          </div>
        </Form>
      </>
    )
  },
})
