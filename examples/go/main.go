// Stores an exchange, builds a context from it, and finds it again: bash examples/run go 127.0.0.1:50051
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	utterd "utterd/v1" // or where your module keeps the stubs
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	said := []*utterd.NewUtterance{
		{Role: utterd.Role_ROLE_USER, Content: "My flight HAT136 leaves on May 23. Can I move it to the morning?"},
		{Role: utterd.Role_ROLE_ASSISTANT, Content: "HAT136 can move to 07:40 on May 23 for 35 euros."},
	}

	channel := must(grpc.Dial(os.Args[1], grpc.WithInsecure()))
	conversations := utterd.NewConversationServiceClient(channel)
	contexts := utterd.NewContextServiceClient(channel)
	memory := utterd.NewMemoryServiceClient(channel)
	created := must(conversations.CreateConversation(ctx, &utterd.CreateConversationRequest{RecipientId: "alice"}))
	id := created.Conversation.ConversationId
	stored := must(memory.Memorize(ctx, &utterd.MemorizeRequest{ConversationId: id, Utterances: said}))
	built := must(contexts.BuildContext(ctx, &utterd.BuildContextRequest{ConversationId: id, TokenBudget: proto.Int32(2000)}))
	found := must(memory.Remember(ctx, &utterd.RememberRequest{ConversationId: id, Prompt: "how many euros?"}))

	fmt.Printf("memorized %d utterances: %d tokens\n", len(stored.Memorized), stored.Capacity.GetTokenCount())
	fmt.Println(built.MessagesJson)
	fmt.Printf("%d tokens of %d\n", built.GetTokenCount(), built.GetTokenBudget())
	for _, match := range found.Matches {
		fmt.Printf("%.2f %s\n", match.GetScore(), match.Utterance.Content)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
