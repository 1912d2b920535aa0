/** Tags: moments that have a name. */
import type { Listed, Records } from '../../../api.ts'
import { ActButton, Button, Field, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { archiveAddress, encodePath } from '../../../refs.ts'
import { deletedRef, undoChange } from '../ref_changes/actions.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

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
  title: () => common.tags,
  actions: {
    async create({ api, params, form }) {
      const tag_name = text(form, 'tag_name')
      const message = text(form, 'message') || null
      await api.post('/projects/{id}/repository/tags', { id: params.id!, tag_name, ref: text(form, 'ref'), message })
      return `/${params.id}/-/tags/${encodePath(tag_name)}`
    },
    async remove({ api, params, form }) {
      const tag_name = text(form, 'tag_name')
      await api.delete('/projects/{id}/repository/tags/{tag_name}', { id: params.id!, tag_name })
      return deletedRef(api, params.id!, `refs/tags/${tag_name}`, t.tagDeleted(tag_name))
    },
    undo: undoChange,
  },
  feed: ({ project }) => `${below(project, 'tags')}?format=atom`,
  View: ({ project, tags, query }) => {
    const mayWrite = project.can.push
    return (
      <>
        <div class="head">
          <h1>
            {common.tags} {tags.total !== null && <span class="count">{tags.total}</span>}
          </h1>
          <form class="row" role="search">
            <input
              type="search"
              name="search"
              aria-label={t.searchTags}
              placeholder={t.searchTags}
              value={query.get('search') ?? ''}
            />
          </form>
        </div>
        {mayWrite && (
          <details class="add">
            <summary class="button">
              <Icon name="plus" /> {t.newTag}
            </summary>
            <Form action="create" class="add-form">
              <Field name="tag_name" label={common.name} required />
              <Field
                name="ref"
                label={t.createFrom}
                value={project.default_branch}
                required
                hint={t.branchTagOrCommit}
              />
              <Field
                name="message"
                label={common.message}
                lines={3}
                hint={t.optionalAddingMessageCreatesAnnotatedTag}
              />
              <Button kind="main">{t.createTag}</Button>
            </Form>
          </details>
        )}
        {tags.items.length === 0 ? (
          <Empty title={query.get('search') ? t.noMatchingTags : t.noTagsYet}>
            <p>{t.useTagsToMarkCommits}</p>
          </Empty>
        ) : (
          <Rows label={common.tags}>
            {tags.items.map((tag) => (
              <TagRow project={project} tag={tag} mayWrite={mayWrite} key={tag.name} />
            ))}
          </Rows>
        )}
        <Pages of={tags} />
        <p class="after-list">
          <a href={below(project, 'ref_changes')}>{t.historyOfBranchesAndTags}</a>
        </p>
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
          {tag.protected && <span class="badge">{t.protectedBadge}</span>}
          {tag.release && (
            <a class="label" href={below(project, `releases/${encodePath(name)}`)}>
              {t.release}
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
          <a
            href={archiveAddress(project, 'zip', name)}
            aria-label={t.downloadName(name)}
            title={common.download}
            download
          >
            <Icon name="download" />
          </a>
          {mayWrite && !tag.protected && (
            <ActButton
              action="remove"
              kind="plain"
              fields={{ tag_name: name }}
              id={name}
              label={t.deleteName(name)}
              confirm={t.deleteTagName(name)}
            >
              <Icon name="trash" />
            </ActButton>
          )}
        </>
      }
    />
  )
}
