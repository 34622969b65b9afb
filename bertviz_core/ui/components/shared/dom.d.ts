// The page as we find it: elements are HTML's or SVG's, events are of elements or of the document, and what is written
// into attributes and styles becomes text by itself.

interface Element extends ElementCSSInlineStyle, HTMLOrSVGElement {
  setAttribute(name: string, value: string | number | boolean): void;
}

interface ParentNode {
  append(...content: (Node | string | number)[]): void;
}

interface EventTarget {
  closest(selector: string): Element | null;
  blur(): void;
  readonly dataset: DOMStringMap;
}

interface CSSStyleDeclaration {
  setProperty(name: string, value: string | number | null): void;
}

interface Storage {
  setItem(name: string, value: string | number): void;
}

interface Window {
  bvTrail?: object;
  bvLine?: object;
  bvLost?: object;
}

interface DocumentEventMap {
  "bv-pointed": CustomEvent;
  "bv-explained": CustomEvent;
  "bv-asks": CustomEvent;
  "bv-head": CustomEvent;
}
