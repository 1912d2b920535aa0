import type { Records } from '../../../api.ts'
import { Button, Choice, Field, Form } from '../../../components/Form.tsx'
import { VisibilityChoice } from '../../../components/Visibilities.tsx'
import { count, optional, word } from '../../../fields.ts'
import type { VisibilityWord } from '../../../levels.ts'
import { page as declare, text } from '../../../page.ts'

interface Data {
  parents: Records['Group'][]
  settings: Records['WebSettings']
}

export const page = declare<Data>({
  signedIn: true,
  load: ({ api }) => ({
    parents: api.get('/groups', { min_access_level: 40, order_by: 'path', per_page: 100 }),
    settings: api.get('/application/web_settings', {}),
  }),
  title: () => 'New group',
  View: ({ parents, settings, query }) => (
    <div class="narrow">
      <h1>New group</h1>
      <p class="quiet">Projects in a group share members, labels, milestones and runners.</p>
      <Form action="create">
        <Field name="name" label="Name" required />
        <Field name="path" label="URL slug" hint="Leave empty to generate the slug from the name." />
        <Choice
          name="parent_id"
          label="Parent group"
          value={query.get('parent')}
          options={[
            ['', 'No parent: top-level group'],
            ...parents.map(({ id, full_path }) => [String(id), full_path] as const),
          ]}
        />
        <Field name="description" label="Description" lines={3} />
        <VisibilityChoice
          settings={settings}
          usual={settings.default_group_visibility}
          within={parents.find(({ id }) => String(id) === query.get('parent'))?.visibility}
        />
        <Button kind="main">Create group</Button>
      </Form>
    </div>
  ),
  actions: {
    async create({ api, form }) {
      const name = text(form, 'name')
      const group = await api.post('/groups', {
        name,
        path: optional(form, 'path') ?? pathOf(name),
        parent_id: count(form, 'parent_id'),
        description: optional(form, 'description'),
        visibility: word<VisibilityWord>(form, 'visibility'),
      })
      return `/${group.full_path}`
    },
  },
})

const pathOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '')
