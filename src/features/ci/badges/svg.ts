/** Badges: small SVG images with two labels, for embedding in other sites. */
import { html } from '../../../lib/text/html.ts'

export interface Badge {
  readonly key: string
  readonly keyWidth: number
  readonly value: string
  readonly valueWidth: number
  readonly colour: string
  readonly isFlat: boolean
}

export function badgeOf({ key, keyWidth, value, valueWidth, colour, isFlat }: Badge): string {
  const width = keyWidth + valueWidth
  const word = (text: string, x: number) =>
    html`<text x="${x}" y="15" fill="#010101" fill-opacity=".3">${text}</text><text x="${x}" y="14">${text}</text>`
  const picture = html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20">
    <title>${key}: ${value}</title>
    <mask id="a"><rect width="${width}" height="20" rx="${isFlat ? 0 : 3}" fill="#fff" /></mask>
    <g mask="url(#a)">
      <path fill="#555" d="M0 0h${keyWidth}v20H0z" />
      <path fill="${colour}" d="M${keyWidth} 0h${valueWidth}v20H${keyWidth}z" />
    </g>
    <g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,Geneva,sans-serif" font-size="11">
      ${word(key, keyWidth / 2)}${word(value, keyWidth + valueWidth / 2)}
    </g>
  </svg> `
  return String(picture)
}
