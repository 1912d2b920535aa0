/** For texts that are read elsewhere: adds a host to image URLs without one. */
import { codeSpans, linesOf } from '../../../lib/text/prose.ts'

/** A URL ends at a blank or at the closing bracket. A URL with a scheme or a host is already absolute. */
const IMAGE = /!\[[^\]\n]{0,200}\]\((?![a-z][a-z0-9+.-]{0,20}:|\/\/|#)([^\s()]{1,2000})/gi

/** `project`: the web URL that `/uploads/…` is relative to; `host`: what other URLs are relative to. */
export function absoluteImages(text: string, { host, project }: { host: string; project: string }): string {
  if (!text.includes('](')) return text
  return linesOf(text)
    .map((line) => (line.block === 'code' ? line.text : absoluteIn(line.text, host, project)))
    .join('\n')
}

function absoluteIn(line: string, host: string, project: string): string {
  if (!line.includes('](')) return line
  const spans = codeSpans(line)
  let span = 0
  return line.replace(IMAGE, (image: string, address: string, at: number) => {
    while (span < spans.length && spans[span]![1] <= at) span++
    if (span < spans.length && spans[span]![0] < at + image.length) return image
    const base = address.startsWith('/uploads/') ? project : address.startsWith('/') ? host : `${host}/`
    return `${image.slice(0, -address.length)}${base}${address}`
  })
}
