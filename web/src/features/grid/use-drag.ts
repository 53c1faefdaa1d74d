/** Arranges tiles by dragging their heads. The library is loaded when a mouse comes near. */
import { useMemo, useRef } from "react";

export interface TileDrag {
  /** Makes an element draggable by its head, and a place to drop others. */
  attach(tile: HTMLElement, head: HTMLElement, id: string): () => void;
}

const load = () => import("@atlaskit/pragmatic-drag-and-drop/element/adapter");

/** `onDrop` gets the tile that was dragged and the one whose place it takes. */
export function useDrag(onDrop: (id: string, over: string) => void): TileDrag {
  const latest = useRef(onDrop);
  latest.current = onDrop;
  return useMemo<TileDrag>(
    () => ({
      attach(tile, head, id) {
        let end: (() => void) | undefined;
        let isOver = false;
        const begin = async (event: PointerEvent) => {
          // Fingers scroll; the menu of the tile moves it.
          if (event.pointerType !== "mouse" || end || isOver) return;
          const { draggable, dropTargetForElements } = await load();
          if (isOver || end) return;
          const stop = [
            draggable({
              element: tile,
              dragHandle: head,
              getInitialData: () => ({ tile: id }),
              onDragStart: () => tile.setAttribute("data-dragged", ""),
              onDrop: () => tile.removeAttribute("data-dragged"),
            }),
            dropTargetForElements({
              element: tile,
              canDrop: ({ source }) => source.data.tile !== undefined && source.data.tile !== id,
              onDragEnter: () => tile.setAttribute("data-over", ""),
              onDragLeave: () => tile.removeAttribute("data-over"),
              onDrop: ({ source }) => {
                tile.removeAttribute("data-over");
                latest.current(String(source.data.tile), id);
              },
            }),
          ];
          end = () => {
            for (const it of stop) it();
          };
        };
        tile.addEventListener("pointerenter", begin);
        return () => {
          isOver = true;
          tile.removeEventListener("pointerenter", begin);
          end?.();
        };
      },
    }),
    [],
  );
}
