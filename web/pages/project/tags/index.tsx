/** Tags: moments that have a name. */
import type { Listed, Records } from '../../../api.ts'
import { ActButton, Button, Field, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { levelOf } from '../../../levels.ts'
import { page as declare, text } from '../../../page.ts'
import { archiveAddress, encodePath } from '../../../refs.ts'

interface Data {
  tags: Listed<Records['Tag'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    tags: api.list('/projects/{id}/repository/tags', {
      id: params.id!,
      search: query.get('search') || null,
      order_by: query.get('sort') === 'name' ? 'name' : 'updated',
      sort: query.get('sort') === 'name' ? 'asc' : 'desc',
      page: Number(query.get('page')) || 1,
      per_page: 30,
    }),
  }),
  title: () => 'Tags',
  actions: {
    async create({ api, params, form }) {
      const tag_name = text(form, 'tag_name')
      const message = text(form, 'message') || null
      await api.post('/projects/{id}/repository/tags', { id: params.id!, tag_name, ref: text(form, 'ref'), message })
      return `/${params.id}/-/tags/${encodePath(tag_name)}`
    },
    async remove({ api, params, form }) {
      await api.delete('/projects/{id}/repository/tags/{tag_name}', {
        id: params.id!,
        tag_name: text(form, 'tag_name'),
      })
    },
  },
  feed: ({ project }) => `${below(project, 'tags')}?format=atom`,
  View: ({ project, tags, query }) => {
    const mayWrite = levelOf(project) >= 30 && !project.archived
    return (
      <>
        <div class="head">
          <h1>Tags {tags.total !== null && <span class="count">{tags.total}</span>}</h1>
          <form class="row" role="search">
            <input
              type="search"
              name="search"
              aria-label="Search tags"
              placeholder="Search tags"
              value={query.get('search') ?? ''}
            />
          </form>
        </div>
        {mayWrite && (
          <details class="add">
            <summary class="button">
              <Icon name="plus" /> New tag
            </summary>
            <Form action="create" class="add-form">
              <Field name="tag_name" label="Name" required />
              <Field
                name="ref"
                label="Create from"
                value={project.default_branch}
                required
                hint="Branch, tag or commit"
              />
              <Field
                name="message"
                label="Message"
                lines={3}
                hint="Optional. Adding a message creates an annotated tag."
              />
              <Button kind="main">Create tag</Button>
            </Form>
          </details>
        )}
        {tags.items.length === 0 ? (
          <Empty title={query.get('search') ? 'No matching tags' : 'No tags yet'}>
            <p>Use tags to mark commits, for example v1.0.</p>
          </Empty>
        ) : (
          <Rows label="Tags">
            {tags.items.map((tag) => (
              <TagRow project={project} tag={tag} mayWrite={mayWrite} key={tag.name} />
            ))}
          </Rows>
        )}
        <Pages of={tags} />
      </>
    )
  },
})

function TagRow({ project, tag, mayWrite }: { project: Project; tag: Records['Tag']; mayWrite: boolean }) {
  const { name, commit } = tag
  return (
    <Row
      lead={<Icon name="tag" />}
      title={
        <span class="row">
          <a href={below(project, `tags/${encodePath(name)}`)}>{name}</a>
          {tag.protected && <span class="badge">protected</span>}
          {tag.release && (
            <a class="label" href={below(project, `releases/${encodePath(name)}`)}>
              release
            </a>
          )}
        </span>
      }
      facts={
        <>
          {tag.message && <>{tag.message.split('\n', 1)[0]} · </>}
          {commit && (
            <>
              <a href={below(project, `commit/${commit.id}`)}>
                <code>{commit.short_id}</code> {commit.title}
              </a>{' '}
              <Time at={commit.committed_date} />
            </>
          )}
        </>
      }
      aside={
        <>
          <a href={archiveAddress(project, 'zip', name)} aria-label={`Download ${name}`} title="Download" download>
            <Icon name="download" />
          </a>
          {mayWrite && !tag.protected && (
            <ActButton
              action="remove"
              kind="plain"
              fields={{ tag_name: name }}
              id={name}
              label={`Delete ${name}`}
              confirm={`Delete the tag ${name}?`}
            >
              <Icon name="trash" />
            </ActButton>
          )}
        </>
      }
    />
  )
}
