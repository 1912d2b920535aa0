/** One release; `…/edit` edits it. */
import type { Records } from '../../../api.ts'
import { ActButton, Button, Field, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { encodePath } from '../../../refs.ts'
import { ReleaseBody } from './Release.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

interface Data {
  release: Records['Release']
}

const isEdit = (params: Readonly<Record<string, string>>) => params.tag!.endsWith('/edit')
const tagOf = (params: Readonly<Record<string, string>>) => params.tag!.replace(/\/edit$/, '')

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params }) => ({
    release: api.get('/projects/{id}/releases/{tag_name}', {
      id: params.id!,
      tag_name: tagOf(params),
      include_html_description: true,
    }),
  }),
  title: ({ release }) => release.name,
  description: ({ release }) => release.description,
  actions: {
    async save({ api, params, form }) {
      const tag_name = tagOf(params)
      await api.put('/projects/{id}/releases/{tag_name}', {
        id: params.id!,
        tag_name,
        name: text(form, 'name') || null,
        description: text(form, 'description'),
      })
      return `/${params.id}/-/releases/${encodePath(tag_name)}`
    },
    async remove({ api, params }) {
      await api.delete('/projects/{id}/releases/{tag_name}', { id: params.id!, tag_name: tagOf(params) })
      return `/${params.id}/-/releases`
    },
  },
  View: ({ project, release, params }) => {
    const address = below(project, `releases/${encodePath(release.tag_name)}`)
    if (isEdit(params))
      return (
        <>
          <h1>{t.editFilePath(release.name)}</h1>
          <Form action="save" class="add-form">
            <Field name="name" label={common.title} value={release.name} />
            <WritingArea name="description" label={t.releaseNotes} lines={12} value={release.description} />
            <div class="row">
              <Button kind="main">{common.save}</Button>
              <a href={address}>{common.cancel}</a>
            </div>
          </Form>
        </>
      )
    return (
      <>
        <div class="head">
          <h1>
            {release.name} {release.upcoming_release && <span class="badge">{t.upcoming}</span>}
          </h1>
          {project.can.release && (
            <div class="row">
              <a class="button" href={`${address}/edit`}>
                <Icon name="pencil" /> {common.edit}
              </a>
              <ActButton action="remove" kind="danger" confirm={t.deleteThisReleaseTagIsKept}>
                <Icon name="trash" /> {common.deleteLabel}
              </ActButton>
            </div>
          )}
        </div>
        <ReleaseBody project={project} release={release} />
        <p class="after-list">
          <a href={below(project, 'releases')}>{t.allReleases}</a>
        </p>
      </>
    )
  },
})
