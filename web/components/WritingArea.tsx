/**
 * The editor for long texts: with a preview, and with files dropped or pasted into it. Without scripts it is a plain
 * field with a preview by the server.
 */
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useSurroundings } from '../surroundings.ts'
import { reasonOf, renderMarkdown, upload } from '../browser.ts'
import { projectOf } from '../page.ts'
import { useSentPreview, useValue } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Prose } from './State.tsx'
import * as t from '../texts/common.ts'
import './WritingArea.css'

interface WritingAreaProps {
  name: string
  label: string
  lines?: number
  value?: string | null | undefined
  required?: boolean
  placeholder?: string
  /** The label is visible to screen readers only. */
  isQuiet?: boolean
  /** Whether quick actions such as `/close` work. */
  hasCommands?: boolean
}

type Preview = { readonly html: string } | { readonly fault: string } | 'asked'

export function WritingArea({
  name,
  label,
  lines = 6,
  value,
  required = false,
  placeholder,
  isQuiet = false,
  hasCommands = false,
}: WritingAreaProps) {
  const { csrf, address, params } = useSurroundings()
  const project = projectOf({ address, params })
  const shown = useValue(name, value)
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const sentPreview = useSentPreview(name)
  const [preview, setPreview] = useState<Preview | null>(sentPreview)
  const isAwake = useAwake(area)
  const files = useFiles(area, csrf, project)

  const write = () => setPreview(null)
  const look = async () => {
    setPreview('asked')
    try {
      const { html } = await renderMarkdown(csrf, area.current!.value, project)
      setPreview((now) => (now === 'asked' ? { html } : now))
    } catch (error) {
      setPreview({ fault: reasonOf(error) })
    }
  }
  useEffect(() => {
    const form = area.current!.form
    form?.addEventListener('reset', write)
    return () => form?.removeEventListener('reset', write)
  }, [])

  return (
    <div class="field writing">
      <div class="writing-head">
        <label class={isQuiet ? 'spoken' : 'field-label'} for={id}>
          {label}
        </label>
        {isAwake ? (
          <div class="writing-tools" role="group" aria-label={t.labelEditorMode(label)}>
            <button type="button" aria-pressed={preview === null} onClick={write}>
              {t.write}
            </button>
            <button type="button" aria-pressed={preview !== null} onClick={() => void look()}>
              {t.preview}
            </button>
          </div>
        ) : (
          <PlainPreview name={name} />
        )}
      </div>
      <textarea
        id={id}
        ref={area}
        name={name}
        rows={lines}
        required={required}
        placeholder={placeholder}
        defaultValue={shown}
        hidden={isAwake && preview !== null}
        onKeyDown={sendByKeys}
        // A hidden field cannot show its error.
        onInvalid={(event) => {
          event.currentTarget.hidden = false
          write()
        }}
        onPaste={(event) => files.take(event, event.clipboardData?.files)}
        onDrop={(event) => files.take(event, event.dataTransfer?.files)}
      />
      {preview !== null && (
        <div
          class="writing-preview"
          id={preview === sentPreview ? 'preview' : undefined}
          aria-live="polite"
          aria-busy={preview === 'asked'}
        >
          <Previewed of={preview} />
        </div>
      )}
      <div class="writing-foot">
        <small class="quiet">
          {t.markdownWithNamesIssues}
          {hasCommands && t.andCommands}. <span class="writing-keys">{t.pressCtrlEnterToSubmit}</span>
        </small>
        {isAwake && project !== null && (
          <label class="writing-attach">
            <Icon name="file" /> {t.attachFiles}
            <input
              type="file"
              multiple
              class="spoken"
              onChange={(event) => {
                files.add(event.currentTarget.files)
                event.currentTarget.value = ''
              }}
            />
          </label>
        )}
      </div>
      {files.fault && (
        <p class="fault" role="alert">
          {files.fault}
        </p>
      )}
    </div>
  )
}

/** Sends the form for a preview only. Enter in another field still submits the form. */
const PlainPreview = ({ name }: { name: string }) => (
  <div class="writing-tools">
    <button class="spoken" tabIndex={-1} aria-hidden="true" />
    <button name="_preview" value={name} formNoValidate formAction={`${useSurroundings().address}#preview`}>
      {t.preview}
    </button>
  </div>
)

function Previewed({ of }: { of: Preview }) {
  if (of === 'asked') return <p class="quiet">{t.loading}</p>
  if ('fault' in of) return <p class="fault">{of.fault}</p>
  return of.html.trim() === '' ? <p class="quiet">{t.nothingToPreview}</p> : <Prose html={of.html} />
}

/** A discussion has hundreds of collapsed editors: each gets its tools when it is opened. */
function useAwake(area: { readonly current: HTMLTextAreaElement | null }): boolean {
  const [isAwake, setAwake] = useState(false)
  useEffect(() => {
    const around = area.current!.closest('details')
    const wake = () => setAwake(true)
    if (!around || around.open) wake()
    around?.addEventListener('toggle', wake, { once: true })
    return () => around?.removeEventListener('toggle', wake)
  }, [])
  return isAwake
}

/** Ctrl or Command with Enter submits the form. */
function sendByKeys(event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  const { form } = event.currentTarget
  form?.requestSubmit(form.querySelector<HTMLButtonElement>('button[data-kind=main]'))
}

/** Uploads files while the user keeps writing: a placeholder stands for each until its URL is known. */
function useFiles(area: { readonly current: HTMLTextAreaElement | null }, csrf: string, project: string | null) {
  const [fault, setFault] = useState<string | null>(null)

  const replace = (mark: string, by: string) => {
    const { current } = area
    const at = current?.value.indexOf(mark) ?? -1
    if (at >= 0) current!.setRangeText(by, at, at + mark.length, 'preserve')
  }
  const send = async (file: File) => {
    const { current } = area
    if (!current || project === null) return
    const mark = t.uploadingName(file.name.replaceAll(/[[\]\n]/g, ' '))
    current.setRangeText(mark, current.selectionStart, current.selectionEnd, 'end')
    try {
      replace(mark, (await upload(csrf, project, file)).markdown)
    } catch (error) {
      replace(mark, '')
      setFault(t.nameCouldNotBeUploaded(file.name, reasonOf(error)))
    }
  }
  const add = (files: FileList | null | undefined) => {
    setFault(null)
    // One after the other: each placeholder is inserted before the next one.
    void [...(files ?? [])].reduce(async (before, file) => {
      await before
      return send(file)
    }, Promise.resolve())
  }
  return {
    fault,
    add,
    take(event: Event, files: FileList | undefined) {
      if (!files || files.length === 0 || project === null) return
      event.preventDefault()
      add(files)
    },
  }
}
